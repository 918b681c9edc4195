# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensor parallelism under test: DeviceMesh, DTensor, parallelize_module, loss_parallel, on gloo."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.distributed.device_mesh import DeviceMesh  # noqa: E402
from tp_protocol import serve  # noqa: E402

import collectives  # noqa: E402
import layers  # noqa: E402
import mesh_views  # noqa: E402
import training  # noqa: E402

Request = dict[str, Any]


class Meshes:
    """Device meshes by their ranks, made by all processes together; those of one rank are there from the start."""

    def __init__(self) -> None:
        dist.init_process_group("gloo")
        alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
        own = dist.get_rank()
        self.alone = DeviceMesh.from_group(alone[own], "cpu", mesh=torch.tensor([own]), mesh_dim_names=("tp",))
        self.made: dict[str, DeviceMesh] = {}

    def of(self, mesh: dict[str, Any]) -> DeviceMesh:
        if len(mesh["ranks"]) == 1:
            return self.alone
        key = f"{mesh['ranks']} {mesh['shape']} {mesh['axes']}"
        if key not in self.made:
            ranks = torch.tensor(mesh["ranks"]).reshape(mesh["shape"])
            self.made[key] = DeviceMesh("cpu", ranks, mesh_dim_names=tuple(mesh["axes"]))
        return self.made[key]


def answer(request: Request, meshes: Meshes) -> dict[str, Any]:
    if request["kind"] == "mesh":
        return mesh_views.run(request, meshes.alone)
    mesh = meshes.of(request["mesh"])
    if request["kind"] == "collective":
        return collectives.run(request, mesh)
    if request["rank"] is None:
        return {"status": "idle"}
    if request["operation"] == "train":
        return training.run(request, mesh)
    return layers.run(request, mesh)


def main() -> None:
    warnings.filterwarnings("ignore", category=UserWarning)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    meshes = Meshes()
    serve("pytorch", torch.__version__, lambda request: answer(request, meshes))


main()
