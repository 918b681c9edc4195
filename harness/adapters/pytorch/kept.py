# SPDX-License-Identifier: Apache-2.0
"""Bytes that autograd keeps between forward and backward, each storage once, parameters left out."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.tensor import DTensor


def local(x: Tensor) -> Tensor:
    x = x.to_local() if isinstance(x, DTensor) else x
    return x.wait() if isinstance(x, AsyncCollectiveTensor) else x


class Kept(saved_tensors_hooks):
    def __init__(self, module: nn.Module) -> None:
        super().__init__(self.pack, lambda x: x)
        self.parameters = {local(p.detach()).untyped_storage().data_ptr() for p in module.parameters()}
        self.activations: dict[int, int] = {}
        self.statistics: dict[int, int] = {}

    def pack(self, x: Tensor) -> Tensor:
        held = local(x.detach())
        storage = held.untyped_storage()
        if storage.data_ptr() not in self.parameters:
            # A norm keeps a number or two of each token.
            kept = self.statistics if held.ndim > 0 and held.shape[-1] == 1 else self.activations
            kept[storage.data_ptr()] = storage.nbytes()
        return x

    def bytes(self) -> dict[str, Any]:
        return {"activations": sum(self.activations.values()), "statistics": sum(self.statistics.values())}
