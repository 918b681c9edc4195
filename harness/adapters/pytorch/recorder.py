# SPDX-License-Identifier: Apache-2.0
"""What DTensor asks of its functional collectives, in order. What the backend makes of it is another matter: gloo
carries out a reduce_scatter as it likes."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

KINDS = {
    "all_reduce": "all_reduce",
    "all_reduce_": "all_reduce",
    "all_gather_into_tensor": "all_gather",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all_single": "all_to_all",
    "broadcast": "broadcast",
}
DTYPE_NAMES = {torch.float64: "f64", torch.float32: "f32", torch.bfloat16: "bf16", torch.int64: "i64"}


class Recorder(TorchDispatchMode):
    def __init__(self, mesh: DeviceMesh) -> None:
        super().__init__()
        self.axis = (mesh.mesh_dim_names or ("tp",))[-1]
        self.ranks = mesh.size()
        self.phase = "forward"
        self.calls: list[dict[str, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(kind is DTensor for kind in types):
            return NotImplemented  # comes back as what it does to local tensors
        namespace, _, name = func._schema.name.partition("::")
        if namespace == "_c10d_functional" and name in KINDS and self.ranks > 1:
            self.add(KINDS[name], name, args)
        return func(*args, **(kwargs or {}))

    def add(self, kind: str, name: str, args: Any) -> None:
        tensor = args[0]
        count = tensor.numel() // (self.ranks if kind == "reduce_scatter" else 1)
        call = {"kind": kind, "axis": self.axis, "ranks": self.ranks, "count": count, "phase": self.phase}
        call["dtype"] = DTYPE_NAMES[tensor.dtype]
        if kind in ("all_reduce", "reduce_scatter"):
            call["op"] = args[1]
        self.calls.append(call)
