# SPDX-License-Identifier: Apache-2.0
"""Device meshes and their views, as torch makes them and as the groups themselves know their members."""

from __future__ import annotations

from math import prod
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate
from tp_protocol import Refused, Unsupported

from tensors import Answers

Request = dict[str, Any]


def mesh_of(spec: dict[str, Any], ranks: list[int], alone: DeviceMesh) -> DeviceMesh:
    """All processes make it together, unless it is of one rank."""
    if len(ranks) > 1 or prod(spec["shape"]) != 1 or not spec["axes"]:
        if prod(spec["shape"]) != len(ranks) or min(spec["shape"], default=0) < 1:
            raise Unsupported("torch is given the ranks themselves in their shape: there is no product to be wrong")
        of = torch.arange(len(ranks), dtype=torch.int).reshape(spec["shape"])
        return DeviceMesh("cpu", of, mesh_dim_names=tuple(spec["axes"]))
    groups = [alone.get_group()] * len(spec["shape"])
    own = torch.tensor(ranks, dtype=torch.int).reshape(spec["shape"])
    if len(groups) == 1:
        return DeviceMesh.from_group(groups[0], "cpu", mesh=own, mesh_dim_names=tuple(spec["axes"]))
    return DeviceMesh.from_group(groups, "cpu", mesh=own, mesh_dim_names=tuple(spec["axes"]))


def view_of(mesh: DeviceMesh, asked: dict[str, Any]) -> DeviceMesh:
    axes = tuple(asked["axes"])
    if asked["view"] == "sub":
        return mesh[axes]
    if asked["view"] == "flatten":
        if mesh.get_coordinate() is None and axes != mesh.mesh_dim_names:
            take_part_from_outside(mesh, axes)
        flat = asked["into"]["axes"][0]
        joined = mesh[axes]._flatten(flat)
        names = [flat if name == axes[0] else name for name in mesh.mesh_dim_names or () if name not in axes[1:]]
        return joined if names == [flat] else mesh[tuple(names)]
    if asked["view"] == "unflatten":
        return mesh._unflatten(axes[0], tuple(asked["into"]["shape"]), tuple(asked["into"]["axes"]))
    return mesh


def take_part_from_outside(mesh: DeviceMesh, axes: tuple[str, ...]) -> None:
    """Slicing raises on a rank outside the mesh, so _flatten makes groups without it; groups are named by how many a
    process has made, so those of all later meshes would wait for one another for ever."""
    names = mesh.mesh_dim_names or ()
    if set(axes) <= set(names):
        dims = [names.index(axis) for axis in axes]
        by_group = mesh.mesh.movedim(dims, list(range(-len(dims), 0))).flatten(-len(dims)).flatten(0, -2)
        for group in by_group:
            dist.new_group(group.tolist())


def run(request: Request, alone: DeviceMesh) -> dict[str, Any]:
    asked = request["mesh_view"]
    try:
        view = view_of(mesh_of(asked["mesh"], request["mesh"]["ranks"], alone), asked)
    except (ValueError, RuntimeError, KeyError, IndexError, AssertionError) as error:
        raise Refused(" ".join(str(error).split())) from error
    if request["rank"] is None:
        return {"status": "idle"}
    answers = Answers(alone)
    own, ranks = request["rank"], len(request["mesh"]["ranks"])
    members: list[int] = view.mesh.flatten().tolist()
    answers.give_row("coordinates", torch.tensor(view.get_coordinate()), own, ranks)
    answers.give_row("rank", torch.tensor([members.index(dist.get_rank())]), own, ranks, [])
    answers.give_row("members", torch.tensor(members), own, ranks)
    for dim, axis in enumerate(view.mesh_dim_names or ()):
        group = dist.get_process_group_ranks(view.get_group(axis))
        answers.give_row(f"group.{axis}", torch.tensor(group), own, ranks)
        table = groups_along(view.mesh, dim)
        answers.give(f"groups.{axis}", table, table.shape, Replicate())
    return answers.response(request["answer"])


def groups_along(mesh: Tensor, dim: int) -> Tensor:
    """In ranks of the view."""
    place = {rank: i for i, rank in enumerate(mesh.flatten().tolist())}
    rows = mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()
    return torch.tensor([[place[rank] for rank in row] for row in rows])
