# SPDX-License-Identifier: Apache-2.0
"""Steps of torch's optimizers on the sharded model, with clip_grad_norm_."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate
from torch.distributed.tensor.parallel import loss_parallel
from torch.nn.utils import clip_grad_norm_, get_total_norm

import layers
from tensors import Answers, read_inputs

Request = dict[str, Any]


def optimizer_of(train: dict[str, Any], parameters: list[Tensor]) -> torch.optim.Optimizer:
    if train["optimizer"] == "sgd":
        return torch.optim.SGD(parameters, lr=train["lr"], momentum=train["momentum"])
    betas = (train["beta1"], train["beta2"])
    return torch.optim.AdamW(
        parameters, lr=train["lr"], betas=betas, eps=train["eps"], weight_decay=train["weight_decay"]
    )


def whole(x: Tensor) -> Tensor:
    return x.full_tensor() if isinstance(x, DTensor) else x


def run(request: Request, mesh: DeviceMesh) -> dict[str, Any]:
    layers.refuse_what_is_missing(request)
    inputs = read_inputs(request["inputs"])
    train = request["train"]
    module = layers.cut_model(request, mesh, inputs)
    parameters = list(module.parameters())
    optimizer = optimizer_of(train, parameters)
    order = float(train["norm"])
    answers = Answers(mesh)
    losses, norms = [], []
    for step in range(train["reports"][-1]):
        ids, targets = inputs[f"step{step}.ids"], inputs[f"step{step}.targets"]
        optimizer.zero_grad()
        with loss_parallel():
            mean = layers.mean_loss(module(ids), targets, request["model"]["loss"])
            (mean * inputs["dloss"].to(mean.dtype)).sum().backward()
        losses.append(whole(mean.detach()).reshape(1))
        if train["max_norm"] > 0:
            norm = clip_grad_norm_(parameters, train["max_norm"], norm_type=order)
        else:
            norm = get_total_norm([p.grad for p in parameters if p.grad is not None], norm_type=order)
        norms.append(whole(norm).reshape(1))
        optimizer.step()
        if step + 1 in train["reports"]:
            for name, parameter in module.named_parameters():
                answers.give_parameter(f"step{step + 1}.{layers.canonical(name)}", parameter, parameter.detach())
    answers.give("loss", torch.cat(losses), [len(losses)], Replicate())
    answers.give("gradient_norm", torch.cat(norms).double(), [len(norms)], Replicate())
    return answers.response(request["answer"])
