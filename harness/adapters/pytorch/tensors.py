# SPDX-License-Identifier: Apache-2.0
"""Between torch's tensors and the protocol's files and placements."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from tp_protocol import Raw, read_tensors, write_tensors

DTYPES = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "I64": torch.int64, "U8": torch.uint8}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
BY_CASE = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}


def read_inputs(path: str) -> dict[str, Tensor]:
    tensors = {}
    for name, raw in read_tensors(path).items():
        flat = torch.frombuffer(bytearray(raw.data), dtype=DTYPES[raw.dtype]) if raw.data else torch.empty(0)
        tensors[name] = flat.to(DTYPES[raw.dtype]).reshape(raw.shape)
    return tensors


def local_part(whole: Tensor, mesh: DeviceMesh, placement: Placement) -> Tensor:
    """What this rank holds of a tensor, as torch cuts it. No communication."""
    if isinstance(placement, Replicate):
        return whole.clone()
    shape, offset = compute_local_shape_and_global_offset(whole.shape, mesh, [placement])
    for dim, (extent, first) in enumerate(zip(shape, offset)):
        whole = whole.narrow(dim, min(first, whole.shape[dim]), extent)
    return whole.clone()


class Answers:
    """What a rank hands out."""

    def __init__(self, mesh: DeviceMesh) -> None:
        self.mesh = mesh
        self.raw: dict[str, Raw] = {}
        self.tensors: list[dict[str, Any]] = []

    def give(self, name: str, local: Tensor, shape: torch.Size | list[int], placement: Placement) -> None:
        local = local.detach().contiguous()
        extent, offset = compute_local_shape_and_global_offset(torch.Size(shape), self.mesh, [placement])
        block = {"global_offset": list(offset), "extent": list(extent), "local_offset": [0] * len(extent)}
        layout: dict[str, Any] = {"global_shape": list(shape), "blocks": [block] if 0 not in extent else []}
        if isinstance(placement, Partial):
            layout["partial_over"] = list(self.mesh.mesh_dim_names or ())
        self.raw[name] = Raw(
            NAMES[local.dtype], list(local.shape), local.reshape(-1).view(torch.uint8).numpy().tobytes()
        )
        self.tensors.append({"name": name, "layout": layout})

    def give_row(self, name: str, row: Tensor, place: int, rows: int, shape: list[int] | None = None) -> None:
        """One row of a table, by hand: those who give rows need not be the mesh. `shape`: of the row."""
        extent = [1, *(list(row.shape) if shape is None else shape)]
        start = [0] * len(extent)
        block = {"global_offset": [place, *start[1:]], "extent": extent, "local_offset": start}
        layout = {"global_shape": [rows, *extent[1:]], "blocks": [block] if 0 not in extent else []}
        self.raw[name] = Raw(NAMES[row.dtype], extent, row.contiguous().view(torch.uint8).numpy().tobytes())
        self.tensors.append({"name": name, "layout": layout})

    def give_parameter(self, name: str, parameter: Tensor, value: Tensor) -> None:
        """A gradient or a weight in the layout of its parameter. DTensor knows of itself what is still a sum."""
        if isinstance(parameter, DTensor):
            assert isinstance(value, DTensor), f"{name} is no DTensor and its parameter is one"
            value = value.redistribute(placements=parameter.placements)
            self.give(name, value.to_local(), value.shape, parameter.placements[0])
        else:
            self.give(name, value, value.shape, Replicate())

    def response(self, path: str, trace: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        write_tensors(path, self.raw)
        response: dict[str, Any] = {"status": "result", "tensors": self.tensors}
        if trace is not None:
            response["trace"] = trace
        return response
