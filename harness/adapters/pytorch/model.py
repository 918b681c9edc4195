# SPDX-License-Identifier: Apache-2.0
"""GPT-2 and Llama style layers in plain torch modules, as reference/DEFINITIONS.md has them.

Activations are [S, B, H]. Nothing here knows of tensor parallelism: plan.py applies it from outside, and heads are
counted from the tensors that arrive, as is usual in PyTorch.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.nn import functional as F

Config = dict[str, Any]


def linear(inputs: int, outputs: int, bias: bool, dtype: torch.dtype) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=bias, dtype=dtype)


class Norm(nn.Module):
    def __init__(self, config: Config, kind: str, dtype: torch.dtype) -> None:
        super().__init__()
        make = nn.LayerNorm if kind == "layer_norm" else nn.RMSNorm
        self.norm = make(config["hidden"], eps=config["norm_eps"], dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)


class Mlp(nn.Module):
    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        h, f, bias = config["hidden"], config["ffn"], config["mlp_bias"]
        self.swiglu = config["mlp"] == "swiglu"
        self.approximate = "tanh" if config["gelu"] == "tanh" else "none"
        if self.swiglu:
            self.gate = linear(h, f, bias, dtype)
            self.up = linear(h, f, bias, dtype)
            self.down = linear(f, h, bias, dtype)
        else:
            self.fc1 = linear(h, f, bias, dtype)
            self.fc2 = linear(f, h, bias, dtype)

    def forward(self, x: Tensor) -> Tensor:
        if self.swiglu:
            return self.down(F.silu(self.gate(x)) * self.up(x))
        return self.fc2(F.gelu(self.fc1(x), approximate=self.approximate))


def rotary_frequencies(config: Config) -> Tensor:
    d = config["head_dim"]
    f = config["rotary_theta"] ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    scaling = config["rotary_scaling"]
    if scaling is None:
        return f
    turns = scaling["original_positions"] * f / (2 * math.pi)
    low, high = scaling["low_frequency_factor"], scaling["high_frequency_factor"]
    share = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - share) * f / scaling["factor"] + share * f


def rotate(x: Tensor, config: Config) -> Tensor:  # [S,B,A,D]
    angles = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * rotary_frequencies(config)
    cos = angles.cos().to(x.dtype)[:, None, None, :]
    sin = angles.sin().to(x.dtype)[:, None, None, :]
    if config["rotary"] == "halves":
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.config = config
        h, d = config["hidden"], config["head_dim"]
        queries, keys = config["heads"] * d, config["kv_heads"] * d
        self.q = linear(h, queries, config["qkv_bias"], dtype)
        self.k = linear(h, keys, config["qkv_bias"], dtype)
        self.v = linear(h, keys, config["qkv_bias"], dtype)
        self.out = linear(queries, h, config["out_bias"], dtype)

    def forward(self, x: Tensor) -> Tensor:
        heads = (-1, self.config["head_dim"])
        q, k, v = (part.unflatten(-1, heads) for part in (self.q(x), self.k(x), self.v(x)))  # [S,B,A,D]
        if self.config["position"] == "rotary":
            q, k = rotate(q, self.config), rotate(k, self.config)
        q, k, v = (part.permute(1, 2, 0, 3) for part in (q, k, v))  # [B,A,S,D]
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
        scores = (q @ k.transpose(-1, -2)) * self.config["attention_scale"]
        if self.config["causal"]:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -math.inf)
        context = scores.softmax(-1) @ v
        return self.out(context.permute(2, 0, 1, 3).flatten(-2))


class Block(nn.Module):
    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.norm1 = Norm(config, config["norm"], dtype)
        self.attention = Attention(config, dtype)
        self.norm2 = Norm(config, config["norm"], dtype)
        self.mlp = Mlp(config, dtype)

    def forward(self, x: Tensor) -> Tensor:
        r = x + self.attention(self.norm1(x))
        return r + self.mlp(self.norm2(r))


class Embedding(nn.Module):
    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.tokens = nn.Embedding(config["vocab"], config["hidden"], dtype=dtype)
        self.positions = None
        if config["position"] == "learned":
            self.positions = nn.Embedding(config["positions"], config["hidden"], dtype=dtype)

    def forward(self, ids: Tensor) -> Tensor:
        y = self.tokens(ids)
        if self.positions is None:
            return y
        return y + self.positions(torch.arange(ids.shape[0])[:, None])


class Model(nn.Module):
    def __init__(self, config: Config, dtype: torch.dtype) -> None:
        super().__init__()
        self.embedding = Embedding(config, dtype)
        self.blocks = nn.ModuleList(Block(config, dtype) for _ in range(config["layers"]))
        self.final_norm = Norm(config, config["norm"], dtype)
        self.head = linear(config["hidden"], config["vocab"], False, dtype)

    def tie(self) -> None:
        self.head.weight = self.embedding.tokens.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(self.final_norm(x))


def cross_entropy(logits: Tensor, targets: Tensor, loss: Config, reduction: str) -> Tensor:
    """torch's own, which smooths over all classes."""
    smoothing = loss["label_smoothing"] if loss["smoothing_over"] == "all_classes" else 0.0
    return F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=loss["ignore_index"],
        label_smoothing=smoothing,
        reduction=reduction,
    )


def smooths_over_others(loss: Config) -> bool:
    return bool(loss["label_smoothing"] > 0 and loss["smoothing_over"] != "all_classes")


def has_own_terms(loss: Config) -> bool:
    return smooths_over_others(loss) or loss["z_loss"] != 0


def whole(x: Tensor) -> Tensor:
    return x.full_tensor() if isinstance(x, DTensor) else x


def token_losses(logits: Tensor, targets: Tensor, loss: Config) -> Tensor:
    """What torch's loss lacks is added by hand from log_softmax and logsumexp, as one would outside of it."""
    losses = cross_entropy(logits, targets, loss, "none")
    if not has_own_terms(loss):
        return losses
    losses, flat = whole(losses), logits.flatten(0, 1)
    valid = (targets.flatten() != loss["ignore_index"]).to(losses.dtype)
    if smooths_over_others(loss):
        share = loss["label_smoothing"] / (logits.shape[-1] - 1)
        others = whole(F.log_softmax(flat, dim=-1).sum(-1))
        losses = (1 - loss["label_smoothing"] - share) * losses - share * others * valid
    if loss["z_loss"] != 0:
        losses = losses + loss["z_loss"] * whole(torch.logsumexp(flat, dim=-1)) ** 2 * valid
    return losses
