# SPDX-License-Identifier: Apache-2.0
"""Writes the golden answers beside this script, from the formulas of reference/DEFINITIONS.md.

A second way to the same numbers: numpy, whole tensors, complex numbers for rotary positions, one closure per
layer for its backward pass. Needs numpy alone: python3 make_goldens.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Config = dict[str, str | float]


class Answer(NamedTuple):
    value: Array
    scale: Array


def add(a: Answer, b: Answer) -> Answer:
    return Answer(a.value + b.value, a.scale + b.scale)


Backward = Callable[..., Answer]  # dy, and its magnitudes -> dx; files the gradients on the way

DEFAULTS: Config = {
    "layers": 1, "hidden": 6, "heads": 2, "kv_heads": 2, "head_dim": 3, "ffn": 5, "vocab": 7, "positions": 4,
    "norm": "layer_norm", "norm_eps": 1e-5, "mlp": "gelu", "gelu": "tanh", "position": "learned",
    "rotary": "halves", "rotary_theta": 10000.0, "causal": 1, "qkv_bias": 1, "out_bias": 1, "mlp_bias": 1,
    "tied_head": 1, "label_smoothing": 0.0, "smoothing_over": "all_classes", "z_loss": 0.0,
    "mean_over": "valid_tokens", "ignore_index": -100,
}  # fmt: skip
LLAMA: Config = {
    "heads": 4, "kv_heads": 2, "head_dim": 2, "norm": "rms_norm", "norm_eps": 1e-3, "mlp": "swiglu",
    "position": "rotary", "rotary_theta": 50.0, "qkv_bias": 0, "out_bias": 0, "mlp_bias": 0, "tied_head": 0,
}  # fmt: skip
SCALING: Config = {
    "factor": 4.0,
    "low_frequency_factor": 1.0,
    "high_frequency_factor": 4.0,
    "original_positions": 64.0,
}


def name_code(name: str) -> int:
    return sum((p + 1) * ord(c) for p, c in enumerate(name))


def rational(name: str, *shape: int) -> Array:
    """The inputs that both sides make alike: dyadic, without libm."""
    i = np.arange(math.prod(shape), dtype=np.int64)
    residue = (31 * i * i + 17 * i + name_code(name)) % 257
    return ((residue - 128) / 128 + (1 if name.endswith("gain") else 0)).reshape(shape)


def mask_of(name: str, rate: float, *shape: int) -> Array:
    i = np.arange(math.prod(shape), dtype=np.int64)
    residue = (31 * i * i + 17 * i + name_code(name)) % 257
    return (residue >= round(257 * rate)).astype(float).reshape(shape)


def gelu(form: str, x: Array) -> tuple[Array, Array]:
    if form == "erf":
        phi = np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2
        return x * phi, phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    slope = math.sqrt(2 / math.pi)
    t = np.tanh(slope * (x + 0.044715 * x**3))
    return x * (1 + t) / 2, (1 + t) / 2 + x * (1 - t**2) / 2 * slope * (1 + 3 * 0.044715 * x**2)


def silu(x: Array) -> tuple[Array, Array]:
    s = 1 / (1 + np.exp(-x))
    return x * s, s + x * s * (1 - s)


class Problem:
    def __init__(self, operation: str, sequence: int, batch: int, **changes: str | float) -> None:
        self.operation, self.sequence, self.batch = operation, sequence, batch
        self.config: Config = DEFAULTS | changes
        self.answers: dict[str, Answer] = {}

    def number(self, key: str) -> int:
        return int(self.config[key])

    def real(self, key: str) -> float:
        return float(self.config[key])

    def activation(self, name: str, width: int) -> Array:
        return rational(name, self.sequence, self.batch, width)

    def ids(self, name: str, some_ignored: bool) -> npt.NDArray[np.int64]:
        i = np.arange(self.sequence * self.batch)
        ids = (3 * i + name_code(name)) % self.number("vocab")
        if some_ignored:
            ids[i % 4 == 1] = self.number("ignore_index")
        return ids.reshape(self.sequence, self.batch)

    def dropout(self, mask: str, which: str) -> Callable[[Array], Array]:
        """Inverted dropout, its own backward; the identity where the rate is 0."""
        rate = float(self.config.get(f"dropout_{which}", 0.0))
        return lambda x: x * mask_of(mask, rate, *x.shape) / (1 - rate)

    def file(self, parameter: str, value: Array, scale: Array) -> None:
        self.answers["grad." + parameter] = Answer(value, scale)

    def linear(self, prefix: str, x: Array, out: int, bias: int) -> tuple[Answer, Backward]:
        weight = rational(prefix + "weight", out, x.shape[-1])
        b = rational(prefix + "bias", out) if bias else np.zeros(out)

        def backward(dy: Array, magnitudes: Array | None = None) -> Answer:
            terms = "sbo,sbi->oi"
            before = abs(dy) if magnitudes is None else magnitudes
            self.file(prefix + "weight", np.einsum(terms, dy, x), np.einsum(terms, before, abs(x)))
            if bias:
                self.file(prefix + "bias", dy.sum((0, 1)), before.sum((0, 1)))
            return Answer(dy @ weight, abs(dy) @ abs(weight))

        return Answer(x @ weight.T + b, abs(x) @ abs(weight).T + abs(b)), backward

    def mlp(self, prefix: str, x: Array) -> tuple[Answer, Backward]:
        bias, ffn, hidden = self.number("mlp_bias"), self.number("ffn"), self.number("hidden")
        if self.config["mlp"] == "gelu":
            inner, into = self.linear(prefix + "fc1.", x, ffn, bias)
            activated, slope = gelu(str(self.config["gelu"]), inner.value)
            y, out_of = self.linear(prefix + "fc2.", activated, hidden, bias)
            return y, lambda dy: into(out_of(dy).value * slope)
        gate, into_gate = self.linear(prefix + "gate.", x, ffn, bias)
        up, into_up = self.linear(prefix + "up.", x, ffn, bias)
        activated, slope = silu(gate.value)
        y, out_of = self.linear(prefix + "down.", activated * up.value, hidden, bias)

        def backward(dy: Array) -> Answer:
            dhidden = out_of(dy).value
            return add(into_gate(dhidden * up.value * slope), into_up(dhidden * activated))

        return y, backward

    def rotation(self) -> Complex:
        """exp(i·angle) [S, D/2]."""
        dim = self.number("head_dim")
        f = self.real("rotary_theta") ** (-2.0 * np.arange(dim // 2) / dim)
        if "factor" in self.config:
            low, high = self.real("low_frequency_factor"), self.real("high_frequency_factor")
            turns = self.real("original_positions") * f / (2 * math.pi)
            kept = np.clip((turns - low) / (high - low), 0, 1)
            f = (1 - kept) * f / self.real("factor") + kept * f
        turned: Complex = np.exp(1j * np.outer(np.arange(self.sequence), f))
        return turned

    def turn(self, x: Array, by: Complex) -> Array:
        """x [S, B, heads, D]."""
        if self.config["position"] != "rotary":
            return x
        half = x.shape[-1] // 2
        halves = self.config["rotary"] == "halves"
        first, second = (x[..., :half], x[..., half:]) if halves else (x[..., 0::2], x[..., 1::2])
        turned = (first + 1j * second) * by[:, None, None, :]
        if halves:
            return np.concatenate([turned.real, turned.imag], axis=-1)
        return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)

    def attention(self, prefix: str, x: Array) -> tuple[Answer, Backward]:
        heads, kv_heads, dim = self.number("heads"), self.number("kv_heads"), self.number("head_dim")
        s, b, shared = self.sequence, self.batch, heads // kv_heads
        bias = self.number("qkv_bias")
        q_, into_q = self.linear(prefix + "q.", x, heads * dim, bias)
        k_, into_k = self.linear(prefix + "k.", x, kv_heads * dim, bias)
        v_, into_v = self.linear(prefix + "v.", x, kv_heads * dim, bias)
        by = self.rotation()
        q = self.turn(q_.value.reshape(s, b, heads, dim), by)
        k = np.repeat(self.turn(k_.value.reshape(s, b, kv_heads, dim), by), shared, axis=2)
        v = np.repeat(v_.value.reshape(s, b, kv_heads, dim), shared, axis=2)
        factor = float(self.config.get("attention_scale", 1 / math.sqrt(dim)))
        scores = factor * np.einsum("ibad,jbad->baij", q, k)
        if self.config["causal"]:
            scores = np.where(np.tri(s, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        drop = self.dropout(prefix + "mask.attention_probabilities", "attention")
        context = np.einsum("baij,jbad->ibad", drop(p), v).reshape(s, b, heads * dim)
        y, out_of = self.linear(prefix + "out.", context, self.number("hidden"), self.number("out_bias"))

        def unshare(d: Array) -> Array:
            by_kv_head: Array = d.reshape(s, b, kv_heads, shared, dim).sum(3)
            return by_kv_head

        def backward(dy: Array) -> Answer:
            dcontext = out_of(dy).value.reshape(s, b, heads, dim)
            dp = drop(np.einsum("ibad,jbad->baij", dcontext, v))
            ds = factor * p * (dp - (p * dp).sum(-1, keepdims=True))
            dq = self.turn(np.einsum("baij,jbad->ibad", ds, k), by.conj())
            dk = self.turn(unshare(np.einsum("baij,ibad->jbad", ds, q)), by.conj())
            dv = unshare(np.einsum("baij,ibad->jbad", drop(p), dcontext))
            before = abs(factor) * p * (abs(dp) + abs(p * dp).sum(-1, keepdims=True))
            before_q = np.einsum("baij,jbad->ibad", before, abs(k)).reshape(s, b, -1)
            before_k = unshare(np.einsum("baij,ibad->jbad", before, abs(q))).reshape(s, b, -1)
            parts = [
                into_q(dq.reshape(s, b, -1), before_q),
                into_k(dk.reshape(s, b, -1), before_k),
                into_v(dv.reshape(s, b, -1)),
            ]
            return add(parts[0], add(parts[1], parts[2]))

        return y, backward

    def norm(self, prefix: str, x: Array, kind: str) -> tuple[Answer, Backward]:
        centred = kind == "layer_norm"
        gain = rational(prefix + "gain", x.shape[-1])
        bias = rational(prefix + "bias", x.shape[-1]) if centred else np.zeros(x.shape[-1])
        offset = x - x.mean(-1, keepdims=True) if centred else x
        r = 1 / np.sqrt((offset**2).mean(-1, keepdims=True) + self.real("norm_eps"))
        n = offset * r

        def backward(dy: Array) -> Answer:
            self.file(prefix + "gain", (dy * n).sum((0, 1)), abs(dy * n).sum((0, 1)))
            if centred:
                self.file(prefix + "bias", dy.sum((0, 1)), abs(dy).sum((0, 1)))
            u = dy * gain
            un = (u * n).mean(-1, keepdims=True)
            mean = u.mean(-1, keepdims=True) * centred
            scale = abs(u) + abs(u).mean(-1, keepdims=True) * centred + abs(n) * abs(u * n).mean(-1, keepdims=True)
            return Answer(r * (u - mean - n * un), r * scale)

        return Answer(n * gain + bias, abs(n * gain) + abs(bias)), backward

    def embedding(self, weight_name: str) -> tuple[Answer, Callable[[Array], Answer]]:
        """Its backward answers the gradient of the word table, and files that of the positions."""
        ids = self.ids("ids", some_ignored=False)
        vocab, hidden, rows = self.number("vocab"), self.number("hidden"), self.number("positions")
        word = rational(weight_name, vocab, hidden)[ids]
        learned = self.config["position"] == "learned"
        place = rational("positions.weight", rows, hidden) if learned else np.zeros((self.sequence, hidden))
        place = place[: self.sequence, None, :]
        drop = self.dropout(weight_name.removesuffix("weight") + "mask.embedding", "embedding")

        def backward(dy: Array) -> Answer:
            dy = drop(dy)
            if learned:
                unused = np.zeros((rows - self.sequence, hidden))
                self.file("positions.weight", *(np.concatenate([d.sum(1), unused]) for d in (dy, abs(dy))))
            chosen = (ids[..., None] == np.arange(vocab)).astype(float)
            return Answer(*(np.einsum("sbv,sbh->vh", chosen, d) for d in (dy, abs(dy))))

        return Answer(drop(word + place), drop(abs(word) + abs(place))), backward

    def cross_entropy(self, z: Array) -> Callable[[float], Answer]:
        targets = self.ids("targets", some_ignored=True)
        vocab = self.number("vocab")
        epsilon, z_loss = self.real("label_smoothing"), self.real("z_loss")
        hit = (targets[..., None] == np.arange(vocab)).astype(float)
        valid = (targets != self.number("ignore_index")).astype(float)
        if self.config["smoothing_over"] == "all_classes":
            q = (1 - epsilon) * hit + epsilon / vocab
        else:
            q = (1 - epsilon) * hit + epsilon / (vocab - 1) * (1 - hit)
        lse = np.log(np.exp(z).sum(-1))
        token = valid * (lse - (q * z).sum(-1) + z_loss * lse**2)
        scale = valid * (abs(lse) + (q * abs(z)).sum(-1) + z_loss * lse**2)
        w = 1 / (valid.sum() if self.config["mean_over"] == "valid_tokens" else valid.size)
        self.answers["token_loss"] = Answer(token, scale)
        self.answers["loss"] = Answer(np.array([w * token.sum()]), np.array([w * scale.sum()]))

        def backward(dloss: float) -> Answer:
            p = np.exp(z - lse[..., None])
            pull, reach = (1 + 2 * z_loss * lse)[..., None], (1 + 2 * z_loss * abs(lse))[..., None]
            share = (dloss * w * valid)[..., None]
            return Answer(share * (p * pull - q), abs(share) * (p * reach + q))

        return backward

    def block(self, prefix: str, x: Array) -> tuple[Answer, Backward]:
        kind = str(self.config["norm"])
        first, norm1 = self.norm(prefix + "norm1.", x, kind)
        attended, attention = self.attention(prefix + "attention.", first.value)
        drop1 = self.dropout(prefix + "attention.mask.attention_output", "hidden")
        drop2 = self.dropout(prefix + "mlp.mask.mlp_output", "hidden")
        middle = x + drop1(attended.value)
        second, norm2 = self.norm(prefix + "norm2.", middle, kind)
        mapped, mlp = self.mlp(prefix + "mlp.", second.value)

        def backward(dy: Array) -> Answer:
            dmiddle = dy + norm2(mlp(drop2(dy)).value).value
            branch = norm1(attention(drop1(dmiddle)).value)
            return Answer(dmiddle + branch.value, abs(dmiddle) + branch.scale)

        return Answer(middle + drop2(mapped.value), abs(middle) + drop2(mapped.scale)), backward

    def model(self) -> None:
        y, embedding = self.embedding("embedding.weight")
        x, backwards = y.value, []
        for i in range(self.number("layers")):
            y, backward = self.block(f"blocks.{i}.", x)
            x = y.value
            backwards.append(backward)
        y, backward = self.norm("final_norm.", x, str(self.config["norm"]))
        backwards.append(backward)
        head_name = "embedding.weight" if self.config["tied_head"] else "head.weight"
        logits, head = self.linear(head_name.removesuffix("weight"), y.value, self.number("vocab"), bias=0)
        dy = head(self.cross_entropy(logits.value)(rational("dloss", 1)[0]).value).value
        for backward in reversed(backwards):
            dy = backward(dy).value
        dword = embedding(dy)
        if self.config["tied_head"]:
            dword = add(dword, self.answers["grad.embedding.weight"])
        self.file("embedding.weight", *dword)

    def layer(self) -> tuple[Answer, Backward]:
        hidden, ffn, bias = self.number("hidden"), self.number("ffn"), self.number("mlp_bias")
        x = self.activation("x", ffn if self.operation == "row_linear" else hidden)
        match self.operation:
            case "column_linear":
                return self.linear("", x, ffn, bias)
            case "row_linear":
                return self.linear("", x, hidden, bias)
            case "mlp":
                return self.mlp("", x)
            case "attention":
                return self.attention("", x)
            case "layer_norm" | "rms_norm":
                return self.norm("", x, self.operation)
        return self.block("", x)

    def solve(self) -> None:
        if self.operation == "model":
            self.model()
        elif self.operation == "vocab_cross_entropy":
            cross_entropy = self.cross_entropy(self.activation("logits", self.number("vocab")))
            self.answers["dlogits"] = cross_entropy(rational("dloss", 1)[0])
        elif self.operation == "vocab_embedding":
            self.answers["y"], embedding = self.embedding("weight")
            self.file("weight", *embedding(self.activation("dy", self.number("hidden"))))
        else:
            self.answers["y"], backward = self.layer()
            self.answers["dx"] = backward(self.activation("dy", self.answers["y"].value.shape[-1]))

    def text(self) -> str:
        lines = [f"operation {self.operation}", f"sequence {self.sequence}", f"batch {self.batch}"]
        lines += [f"config {key} {value}" for key, value in self.config.items()]
        for name, (value, scale) in sorted(self.answers.items()):
            shape = "x".join(map(str, value.shape))
            numbers = [np.sqrt((scale**2).sum()), scale.max(), *value.ravel()]
            lines.append(f"answer {name} {shape} " + " ".join(f"{number:.15g}" for number in numbers))
        return "\n".join(lines) + "\n"


def problems() -> dict[str, Problem]:
    llama = LLAMA
    return {
        "column_linear": Problem("column_linear", 3, 2),
        "row_linear": Problem("row_linear", 1, 3, mlp_bias=0),
        "mlp_gelu_tanh": Problem("mlp", 2, 2),
        "mlp_gelu_erf": Problem("mlp", 2, 2, gelu="erf"),
        "mlp_swiglu": Problem("mlp", 2, 2, mlp="swiglu"),
        "attention_mha": Problem("attention", 3, 2, attention_scale=0.75),
        "attention_not_causal": Problem("attention", 3, 1, causal=0),
        "attention_gqa_halves": Problem("attention", 4, 2, **llama | {"head_dim": 4}),
        "attention_mqa_interleaved": Problem(
            "attention",
            3,
            1,
            **llama | {"kv_heads": 1, "rotary": "interleaved", "head_dim": 4, "qkv_bias": 1},
        ),
        "attention_llama3": Problem("attention", 3, 1, **llama | SCALING | {"head_dim": 8, "heads": 2, "kv_heads": 1}),
        "layer_norm": Problem("layer_norm", 3, 2),
        "rms_norm": Problem("rms_norm", 3, 2, norm_eps=1e-3),
        "embedding_learned": Problem("vocab_embedding", 3, 3),
        "embedding": Problem("vocab_embedding", 3, 3, position="none"),
        "cross_entropy": Problem("vocab_cross_entropy", 3, 2),
        "cross_entropy_smoothed": Problem(
            "vocab_cross_entropy", 3, 2, label_smoothing=0.1, z_loss=0.01, mean_over="all_tokens"
        ),
        "cross_entropy_other": Problem(
            "vocab_cross_entropy", 3, 2, label_smoothing=0.25, smoothing_over="other_classes", ignore_index=3
        ),
        "block_gpt2": Problem("transformer_layer", 3, 2),
        "block_llama": Problem("transformer_layer", 3, 2, **llama),
        "model_gpt2": Problem("model", 3, 2, hidden=4),
        "model_gpt2_dropout": Problem(
            "model", 2, 2, hidden=4, dropout_embedding=0.125, dropout_attention=0.25, dropout_hidden=0.375
        ),
        "model_llama": Problem("model", 3, 1, **llama | {"layers": 2, "hidden": 4}),
        "model_qwen2": Problem("model", 3, 2, **llama | {"qkv_bias": 1, "tied_head": 1, "z_loss": 1e-4, "hidden": 4}),
    }


def main() -> None:
    for name, problem in problems().items():
        problem.solve()
        (Path(__file__).parent / f"{name}.txt").write_text(problem.text())


if __name__ == "__main__":
    main()
