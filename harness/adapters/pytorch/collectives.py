# SPDX-License-Identifier: Apache-2.0
"""torch.distributed's collectives themselves, on a group of the mesh."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate
from tp_protocol import Unsupported

from tensors import Answers, read_inputs

OPS = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN, "product": dist.ReduceOp.PRODUCT}


def call(c: dict[str, Any], given: Tensor, group: Any, place: int, ranks: int) -> Tensor:
    """`place`: of this rank among those that were asked for, whatever the group makes of it."""
    kind, op, x = c["kind"], OPS[c["op"]], given.clone()
    if kind == "all_reduce":  # in place, as torch has it
        dist.all_reduce(x, op, group=group)
        return x
    if kind == "broadcast":
        dist.broadcast(x, group=group, group_src=c["root"])
        return x
    if kind == "all_gather":
        y = x.new_empty((ranks * x.numel(),))
        if c["in_place"]:
            part = y[place * x.numel() : (place + 1) * x.numel()]
            x = part.copy_(x)
        dist.all_gather_into_tensor(y, x, group=group)
        return y
    if kind == "reduce_scatter":
        n = x.numel() // ranks
        y = x[place * n : (place + 1) * n] if c["in_place"] else x.new_empty((n,))
        dist.reduce_scatter_tensor(y, x, op, group=group)
        return y
    if kind == "all_to_all":
        if c["in_place"]:
            raise Unsupported("all_to_all_single has no form in place")
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x, group=group)
        return y
    return pass_on(x, group, place, ranks)


def pass_on(x: Tensor, group: Any, place: int, ranks: int) -> Tensor:
    if ranks == 1:
        return x
    y = torch.empty_like(x)
    sent = dist.P2POp(dist.isend, x, group=group, group_peer=(place + 1) % ranks)
    received = dist.P2POp(dist.irecv, y, group=group, group_peer=(place - 1) % ranks)
    for work in dist.batch_isend_irecv([sent, received]):
        work.wait()
    return y


def run(request: dict[str, Any], mesh: DeviceMesh) -> dict[str, Any]:
    c = request["collective"]
    members = c["members"] or request["mesh"]["ranks"]
    if c["members"]:  # new_group as it comes: all processes make it together
        group = dist.new_group(members)
    if request["rank"] is None:
        return {"status": "idle"}
    if not c["members"]:
        group = mesh.get_group()
    if dist.get_rank() not in members:
        return {"status": "result", "tensors": []}
    place, ranks = members.index(dist.get_rank()), len(members)
    x = read_inputs(request["inputs"])["in"][place].reshape(-1)
    first = last = call(c, x, group, place, ranks)
    unequal = 0
    for _ in range(1, c["repeats"]):
        last = call(c, x, group, place, ranks)
        unequal += int((bits(first) != bits(last)).sum())
    answers = Answers(mesh)
    answers.give_row("out", last, place, ranks)
    if c["repeats"] > 1:
        answers.give_row("unequal", torch.tensor([unequal], dtype=x.dtype), place, ranks, [])
        if c["kind"] in ("all_reduce", "all_gather", "broadcast"):
            answers.give("copies", last, last.shape, Replicate())
    return answers.response(request["answer"])


def bits(x: Tensor) -> Tensor:
    return x.contiguous().view(torch.uint8).reshape(x.numel(), -1)
