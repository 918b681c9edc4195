# SPDX-License-Identifier: Apache-2.0
"""Megatron's random streams: how it seeds them, forks them and puts them back, seen through dropout of ones.

Its tracker keeps states of the CUDA generator. On a machine without GPUs those of the CPU's stand in for them: other
numbers, drawn from the same streams in the same places.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from megatron.core.tensor_parallel import random
from torch import Tensor
from torch.nn import functional as F
from tp_protocol import Unsupported

Request = dict[str, Any]
Give = Callable[[str, Tensor, "int | None"], None]


def stand_in_for_cuda() -> None:
    def get(device: Any = None) -> Tensor:
        return torch.get_rng_state()

    def put(state: Tensor, device: Any = None, graph_safe: bool = False) -> None:
        torch.set_rng_state(state)

    torch.cuda.manual_seed = torch.manual_seed
    torch.cuda.get_rng_state = torch.cuda.random.get_rng_state = get
    random._set_cuda_rng_state = put


@dataclass
class Place:
    """A dropout of the model, and what it made of ones each time it was computed."""

    name: str
    shape: list[int]
    dim: int | None  # that is cut
    rate: float
    stream: Callable[[], AbstractContextManager[Any]]

    def drop(self, ones: Tensor, computed: list[Tensor]) -> Tensor:
        with self.stream():
            y = F.dropout(ones, self.rate)
        computed.append(y.detach())
        return y


class Streams:
    def __init__(self, request: Request, dtype: torch.dtype) -> None:
        if request["random"]["profile"] != "megatron":
            raise Unsupported(f"Megatron has streams of its own, not those of profile {request['random']['profile']}")
        self.request, self.dtype = request, dtype
        axes, sizes = request["mesh"]["axes"], request["mesh"]["shape"]
        at, rank = dict.fromkeys(("pp", "dp", "tp"), 0), request["rank"]
        for axis, size in reversed(list(zip(axes, sizes))):
            at[axis], rank = rank % size, rank // size
        self.tp, self.ranks = at["tp"], dict(zip(axes, sizes))["tp"]
        self.sequence_parallel = request["sharding"]["sequence_parallel"] != "off" and self.ranks > 1
        # As Megatron's trainer derives it.
        apart = at["dp"] if request["random"]["seed_by_data_parallel_rank"] else 0
        self.seed = request["seed"] + 100 * at["pp"] + 10 * apart
        random.model_parallel_cuda_manual_seed(
            self.seed, tp_rank=self.tp, ep_rank=0, etp_rank=self.tp, force_reset_rng=True
        )
        self.first_states = {"default": torch.cuda.get_rng_state(), **random.get_cuda_rng_tracker().get_states()}

    def forked(self) -> AbstractContextManager[Any]:
        fork: AbstractContextManager[Any] = random.get_cuda_rng_tracker().fork()
        return fork

    def places(self) -> list[Place]:
        """Where Megatron's embedding, block and attention draw. With sequence parallelism all of a block is within one
        fork, and the attention does not fork again."""
        model, rates = self.request["model"], self.request["model"]["dropout"]
        tokens = [self.request["sequence"], self.request["batch"], model["hidden"]]
        pairs = [self.request["batch"], model["heads"] // self.ranks, tokens[0], tokens[0]]
        dim = None
        of_tokens: Callable[[], AbstractContextManager[Any]] = nullcontext
        if self.sequence_parallel:
            tokens[0], dim, of_tokens = tokens[0] // self.ranks, 0, self.forked
        places = [
            Place("embedding.mask.embedding", tokens, dim, rates["embedding"], of_tokens),
            Place("blocks.0.attention.mask.attention_probabilities", pairs, 1, rates["attention"], self.forked),
            Place("blocks.0.attention.mask.attention_output", tokens, dim, rates["hidden"], of_tokens),
            Place("blocks.0.mlp.mask.mlp_output", tokens, dim, rates["hidden"], of_tokens),
        ]
        return [place for place in places if place.rate > 0]

    def run(self, give: Give) -> None:
        places = self.places()
        drawn = []
        for place in places:
            ones = torch.ones(place.shape, dtype=self.dtype, requires_grad=True)
            computed: list[Tensor] = []
            drop = partial(place.drop, computed=computed)
            drawn.append((place, ones, computed, random.checkpoint(drop, False, ones)))
        for place, ones, computed, y in reversed(drawn):
            y.backward(torch.ones_like(y))
            assert ones.grad is not None
            for which, x in zip(("forward.", "recomputed.", "backward."), (*computed, ones.grad)):
                give(which + place.name, x, place.dim)
        checkpoint = random._get_all_rng_states()
        self.draw_again("next.", places, give)
        random._set_all_rng_states(*checkpoint)  # once: the tracker goes on in the dict that it is given
        self.draw_again("resumed.", places, give)

    def draw_again(self, which: str, places: list[Place], give: Give) -> None:
        for place in places:
            give(which + place.name, place.drop(torch.ones(place.shape, dtype=self.dtype), []), place.dim)

    def seeds(self) -> Tensor:
        """Of the default stream, and of those for data, tensor and expert parallelism."""
        names = ("default", "data-parallel-rng", "model-parallel-rng", "expert-parallel-rng")
        return torch.tensor([seed_of(self.first_states[name]) for name in names])


def seed_of(state: Tensor) -> int:
    generator = torch.Generator("cuda" if torch.cuda.is_available() else "cpu")
    generator.set_state(state)
    return int(generator.initial_seed())
