# SPDX-License-Identifier: Apache-2.0
"""Megatron-Core's tensor-parallel layers under test, on gloo.

Megatron allocates its communication buffers on torch.cuda.current_device(); on a machine without GPUs that function
answers "cpu" here, and the CPU's generator stands in for CUDA's (streams.py). Nothing else of it is changed.
"""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any
from collections.abc import Callable

here = Path(__file__).resolve().parent.parent
sys.path += [str(here / "python"), str(here / "pytorch")]
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

if not torch.cuda.is_available():
    torch.cuda.current_device = lambda: "cpu"  # type: ignore[assignment,return-value]

import megatron.core  # noqa: E402
from megatron.core import ModelParallelConfig, parallel_state  # noqa: E402
from megatron.core.tensor_parallel import (  # noqa: E402
    ColumnParallelLinear,
    RowParallelLinear,
    VocabParallelEmbedding,
    vocab_parallel_cross_entropy,
)
from streams import Streams, stand_in_for_cuda  # noqa: E402
from tensors import BY_CASE, NAMES, read_inputs  # noqa: E402
from tp_protocol import Raw, Refused, Unsupported, serve, write_tensors  # noqa: E402

Request = dict[str, Any]


class Groups:
    """Groups of the first n ranks, and of each rank alone."""

    def __init__(self) -> None:
        dist.init_process_group("gloo")
        parallel_state._set_global_memory_buffer()
        own, world = dist.get_rank(), dist.get_world_size()
        self.alone = [dist.new_group([rank]) for rank in range(world)][own]
        self.first = {n: dist.new_group(list(range(n))) for n in range(2, world + 1)}

    def enter(self, ranks: list[int]) -> Any:
        group = self.alone if len(ranks) == 1 else self.first[len(ranks)]
        parallel_state._TENSOR_MODEL_PARALLEL_GROUP = group  # the loss takes it from there
        parallel_state._MPU_TENSOR_MODEL_PARALLEL_WORLD_SIZE = len(ranks)
        parallel_state._MPU_TENSOR_MODEL_PARALLEL_RANK = ranks.index(dist.get_rank())
        return group


class Job:
    """One request on one rank."""

    def __init__(self, request: Request, group: Any) -> None:
        self.request, self.group = request, group
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        self.model, self.sharding = request["model"], request["sharding"]
        self.dtype = BY_CASE[request["dtype"]]
        self.inputs = read_inputs(request["inputs"])
        # Megatron refuses sequence parallelism on one rank, where it is nothing.
        self.sequence_parallel = self.sharding["sequence_parallel"] != "off" and self.ranks > 1
        self.config = ModelParallelConfig(
            tensor_model_parallel_size=self.ranks,
            sequence_parallel=self.sequence_parallel,
            use_cpu_initialization=True,
            perform_initialization=False,
            params_dtype=self.dtype,
            gradient_accumulation_fusion=False,
        )
        self.raw: dict[str, Raw] = {}
        self.tensors: list[dict[str, Any]] = []

    def part(self, x: Tensor, dim: int | None) -> Tensor:
        if dim is not None and x.shape[dim] % self.ranks:  # as Megatron's own _split_along_first_dim has it
            raise Refused(f"a dim of {x.shape[dim]} is not divisible by the tensor-parallel size {self.ranks}")
        return (x if dim is None else x.chunk(self.ranks, dim)[self.rank]).clone()

    def token_dim(self) -> int | None:
        return 0 if self.sequence_parallel else None

    def give(self, name: str, local: Tensor, dim: int | None, extent: int | None = None) -> None:
        """`extent`: of the global dim where the last parts are padding."""
        local = local.detach().contiguous()
        layout: Any = "replicate" if dim is None else {"shard": dim}
        if dim is not None and extent is not None:
            width = local.shape[dim]
            first = min(self.rank * width, extent)
            shape, offset, block = list(local.shape), [0] * local.ndim, list(local.shape)
            shape[dim], offset[dim], block[dim] = extent, first, min(width, extent - first)
            blocks = [{"global_offset": offset, "extent": block, "local_offset": [0] * local.ndim}]
            layout = {"global_shape": shape, "blocks": blocks if block[dim] > 0 else [], "padding": None}
        self.raw[name] = Raw(
            NAMES[local.dtype], list(local.shape), local.reshape(-1).view(torch.uint8).numpy().tobytes()
        )
        self.tensors.append({"name": name, "layout": layout})

    def give_gradient(self, name: str, parameter: Tensor, dim: int | None, extent: int | None = None) -> None:
        assert parameter.grad is not None, f"{name} got no gradient"
        if getattr(parameter, "sequence_parallel", False):  # Megatron's own tag of what is still a sum
            dist.all_reduce(parameter.grad, group=self.group)
        self.give("grad." + name, parameter.grad, dim, extent)

    def response(self) -> dict[str, Any]:
        write_tensors(self.request["answer"], self.raw)
        return {"status": "result", "tensors": self.tensors}

    def column(self, name: str, inputs: int, outputs: int, gather: bool = False) -> ColumnParallelLinear:
        layer = ColumnParallelLinear(
            inputs,
            outputs,
            config=self.config,
            init_method=nn.init.zeros_,
            bias=self.model["mlp_bias"],
            gather_output=gather,
            tp_group=self.group,
        )
        return self.loaded(layer, name, 0, 0)

    def row(self, name: str, inputs: int, outputs: int, is_split: bool = True) -> RowParallelLinear:
        layer = RowParallelLinear(
            inputs,
            outputs,
            config=self.config,
            init_method=nn.init.zeros_,
            bias=self.model["mlp_bias"],
            input_is_parallel=is_split,
            skip_bias_add=False,
            tp_group=self.group,
        )
        return self.loaded(layer, name, 1, None)

    def loaded(self, layer: Any, name: str, weight_dim: int, bias_dim: int | None) -> Any:
        with torch.no_grad():
            layer.weight.copy_(self.part(self.inputs[name + "weight"], weight_dim))
            if self.model["mlp_bias"]:
                layer.bias.copy_(self.part(self.inputs[name + "bias"], bias_dim))
        return layer

    def give_linear(self, name: str, layer: Any, weight_dim: int, bias_dim: int | None) -> None:
        self.give_gradient(name + "weight", layer.weight, weight_dim)
        if self.model["mlp_bias"]:
            self.give_gradient(name + "bias", layer.bias, bias_dim)

    def through(self, layer: Callable[[Tensor], Tensor], x_dim: int | None, y_dim: int | None) -> None:
        x = self.part(self.inputs["x"], x_dim).requires_grad_()
        y = layer(x)
        self.give("y", y, y_dim)
        y.backward(self.part(self.inputs["dy"], y_dim))
        assert x.grad is not None, "the input got no gradient"
        self.give("dx", x.grad, x_dim)

    def column_linear(self) -> None:
        gather = self.sharding["gather_output"]
        layer = self.column("", self.model["hidden"], self.model["ffn"], gather)
        self.through(lambda x: layer(x)[0], self.token_dim(), None if gather else 2)
        self.give_linear("", layer, 0, 0)

    def row_linear(self) -> None:
        is_split = self.sharding["input_is_split"]
        if self.sequence_parallel and not is_split:
            raise Unsupported("Megatron's row linear takes no whole input with sequence parallelism")
        layer = self.row("", self.model["ffn"], self.model["hidden"], is_split)
        self.through(lambda x: layer(x)[0], 2 if is_split else None, self.token_dim())
        self.give_linear("", layer, 1, None)

    def mlp(self) -> None:
        h, f, swiglu = self.model["hidden"], self.model["ffn"], self.model["mlp"] == "swiglu"
        if swiglu:
            raise Unsupported("gate and up are one fused weight in Megatron's MLP, which is not asked yet")
        fc1, fc2 = self.column("fc1.", h, f), self.row("fc2.", f, h)
        approximate = "tanh" if self.model["gelu"] == "tanh" else "none"
        self.through(lambda x: fc2(F.gelu(fc1(x)[0], approximate=approximate))[0], self.token_dim(), self.token_dim())
        self.give_linear("fc1.", fc1, 0, 0)
        self.give_linear("fc2.", fc2, 1, None)

    def vocab_embedding(self) -> None:
        if self.model["position"] == "learned":
            raise Unsupported("Megatron adds learned positions outside of its VocabParallelEmbedding")
        vocab, hidden = self.model["vocab"], self.model["hidden"]
        rows = self.sharding["padded_vocab"] or vocab
        layer = VocabParallelEmbedding(
            rows,
            hidden,
            init_method=nn.init.zeros_,
            reduce_scatter_embeddings=self.sequence_parallel,
            config=self.config,
            tp_group=self.group,
        )
        table = torch.zeros(rows, hidden, dtype=self.dtype)
        table[:vocab] = self.inputs["weight"]
        with torch.no_grad():
            layer.weight.copy_(self.part(table, 0))
        ids = self.inputs["ids"]  # Megatron has [B,S] in and [S,B,H] out where it scatters, else as it came
        y = layer(ids.t().contiguous() if self.sequence_parallel else ids)
        self.give("y", y, self.token_dim())
        y.backward(self.part(self.inputs["dy"], self.token_dim()))
        self.give_gradient("weight", layer.weight, 0, vocab)

    def vocab_cross_entropy(self) -> None:
        loss, vocab = self.model["loss"], self.model["vocab"]
        if self.request["dtype"] == "f64":
            raise Unsupported("Megatron computes its loss in f32")
        if loss["z_loss"] > 0:
            raise Unsupported("Megatron's cross entropy has no z-loss")
        if loss["label_smoothing"] > 0 and loss["smoothing_over"] == "all_classes":
            raise Unsupported("Megatron smooths over the other classes")
        width = -(-vocab // self.ranks)
        whole = torch.full((*self.inputs["logits"].shape[:2], width * self.ranks), -1e4, dtype=self.dtype)
        whole[..., :vocab] = self.inputs["logits"]
        logits = self.part(whole, 2).requires_grad_()
        targets = self.inputs["targets"]
        valid = targets != loss["ignore_index"]  # Megatron's trainer multiplies by its loss mask
        losses = vocab_parallel_cross_entropy(logits.clone(), targets.clamp(min=0), loss["label_smoothing"])
        tokens = losses * valid
        count = valid.sum() if loss["mean_over"] == "valid_tokens" else valid.numel()
        mean = tokens.sum() / max(int(count), 1)
        self.give("loss", mean.reshape(1), None)
        self.give("token_loss", tokens, None)
        (mean * self.inputs["dloss"].to(mean.dtype)).sum().backward()
        assert logits.grad is not None
        self.give("dlogits", logits.grad, 2, vocab)

    def run(self) -> dict[str, Any]:
        operation = self.request["operation"]
        if operation == "init":
            raise Unsupported("needs CUDA: Megatron draws weights in its streams on a GPU alone")
        known = ("column_linear", "row_linear", "mlp", "vocab_embedding", "vocab_cross_entropy")
        if operation not in known:
            raise Unsupported(f"{operation} is not asked of Megatron-Core yet")
        if self.sharding["sequence_parallel"] == "kept" and self.ranks > 1 and operation in ("column_linear", "mlp"):
            raise Unsupported("Megatron gathers the input again in backward; it has no form that keeps it")
        if self.sharding.get("overlap_chunks", 1) != 1:
            raise Unsupported("Megatron overlaps through Transformer Engine, which needs CUDA")
        if self.sharding["mlp_order"] != "column_first" or self.sharding["recompute"] != "none":
            raise Unsupported("row-first MLPs and recomputation are not asked of Megatron-Core")
        try:
            getattr(self, operation)()
        except AssertionError as error:
            if "is not divisible by" in str(error):  # how Megatron refuses
                raise Refused(str(error)) from error
            raise
        return self.response()


def dropped(request: Request, group: Any) -> dict[str, Any]:
    job, streams = Job(request, group), Streams(request, BY_CASE[request["dtype"]])
    job.give("streams.seed", streams.seeds().reshape(1, -1), 0)
    job.rank, job.ranks = streams.tp, streams.ranks  # masks are cut over tp alone

    def give(name: str, local: Tensor, dim: int | None) -> None:
        job.give(name, local, dim, None if dim is None else local.shape[dim] * streams.ranks)

    streams.run(give)
    return job.response()


def answer(request: Request, groups: Groups) -> dict[str, Any]:
    if request["rank"] is None:
        return {"status": "idle"}
    if request["kind"] != "operation":
        raise Unsupported("collectives and meshes are torch's own")
    if request["operation"] == "dropout":
        return dropped(request, groups.enter(request["mesh"]["ranks"]))
    if len(request["mesh"]["shape"]) > 1:
        raise Unsupported("meshes of several axes are not asked of Megatron-Core yet")
    if request["mesh"]["axes"] != ["tp"]:
        raise Refused(f"the mesh has the axis {request['mesh']['axes'][0]}, and none is called 'tp'")
    return Job(request, groups.enter(request["mesh"]["ranks"])).run()


def main() -> None:
    torch.set_num_threads(1)
    if not torch.cuda.is_available():
        stand_in_for_cuda()
    groups = Groups()
    serve("megatron-core", megatron.core.__version__, lambda request: answer(request, groups))


main()
