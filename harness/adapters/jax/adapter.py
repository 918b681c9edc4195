# SPDX-License-Identifier: Apache-2.0
"""JAX under test: plain functions under jit, cut by NamedSharding on one CPU device per process; the compiler puts in
the collectives."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from collections.abc import Callable

sys.path.append(str(Path(__file__).resolve().parent.parent / "python"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import Mesh, NamedSharding  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from tp_protocol import Raw, Refused, Unsupported, read_tensors, serve, write_tensors  # noqa: E402

Request = dict[str, Any]
Arrays = dict[str, Any]
NUMPY = {"F64": np.float64, "F32": np.float32, "BF16": ml_dtypes.bfloat16, "I64": np.int64, "U8": np.uint8}
NAMES = {np.dtype(dtype): name for name, dtype in NUMPY.items()}


def linear(p: Arrays, name: str, x: Any) -> Any:
    y = x @ p[name + "weight"].T
    return y + p[name + "bias"] if name + "bias" in p else y


def mlp(p: Arrays, c: Request, x: Any) -> Any:
    if c["mlp"] == "swiglu":
        return linear(p, "down.", jax.nn.silu(linear(p, "gate.", x)) * linear(p, "up.", x))
    return linear(p, "fc2.", jax.nn.gelu(linear(p, "fc1.", x), approximate=c["gelu"] == "tanh"))


def attention(p: Arrays, c: Request, x: Any) -> Any:
    s, b, _ = x.shape
    q, k, v = (linear(p, f"{n}.", x).reshape(s, b, -1, c["head_dim"]) for n in "qkv")
    groups = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, groups, axis=2), jnp.repeat(v, groups, axis=2)
    scores = jnp.einsum("sbad,tbad->bast", q, k) * jnp.asarray(c["attention_scale"], x.dtype)
    if c["causal"]:
        scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -jnp.inf)
    context = jnp.einsum("bast,tbad->sbad", jax.nn.softmax(scores, axis=-1), v)
    return linear(p, "out.", context.reshape(s, b, -1))


def norm(p: Arrays, c: Request, x: Any, is_layer_norm: bool) -> Any:
    wide = x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x
    if is_layer_norm:
        wide = wide - wide.mean(-1, keepdims=True)
    y = (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + c["norm_eps"])).astype(x.dtype) * p["gain"]
    return y + p["bias"] if is_layer_norm else y


def embedding(p: Arrays, c: Request, ids: Any) -> Any:
    y = p["weight"][ids]
    return y + p["positions.weight"][: ids.shape[0], None] if "positions.weight" in p else y


def losses(loss: Request, logits: Any, targets: Any) -> tuple[Any, Any]:
    wide = logits.astype(jnp.float32) if logits.dtype == jnp.bfloat16 else logits
    valid = targets != loss["ignore_index"]
    lse = jax.nn.logsumexp(wide, axis=-1)
    own = jnp.take_along_axis(wide, jnp.where(valid, targets, 0)[..., None], axis=-1)[..., 0]
    classes, e = wide.shape[-1], loss["label_smoothing"]
    others = e / classes if loss["smoothing_over"] == "all_classes" else e / (classes - 1)
    target = 1 - e + others if loss["smoothing_over"] == "all_classes" else 1 - e
    tokens = lse - (target - others) * own - others * wide.sum(-1) + loss["z_loss"] * lse**2
    tokens = jnp.where(valid, tokens, 0)
    count = valid.sum() if loss["mean_over"] == "valid_tokens" else valid.size
    return tokens.sum() / jnp.maximum(count, 1), tokens


COLUMNS, ROWS = P("tp", None), P(None, "tp")


def spec_of(name: str, operation: str) -> P:
    """How a parameter is cut."""
    layer, _, kind = name.rpartition(".")
    column = operation == "column_linear" or layer in ("fc1", "gate", "up", "q", "k", "v")
    row = operation == "row_linear" or layer in ("fc2", "down", "out")
    if operation == "vocab_embedding" and name == "weight":
        return COLUMNS
    if kind == "weight" and (column or row):
        return COLUMNS if column else ROWS
    return P("tp") if kind == "bias" and column else P()


class Job:
    def __init__(self, request: Request, mesh: Mesh) -> None:
        self.request, self.mesh, self.model = request, mesh, request["model"]
        self.operation, self.sharding = request["operation"], request["sharding"]
        self.tokens = P("tp") if self.sharding["sequence_parallel"] != "off" else P()
        self.inputs = {
            name: np.frombuffer(raw.data, NUMPY[raw.dtype]).reshape(raw.shape)
            for name, raw in read_tensors(request["inputs"]).items()
        }
        self.raw: dict[str, Raw] = {}
        self.tensors: list[Request] = []

    def cut(self, whole: Any, spec: P) -> Any:
        for dim, axis in enumerate(spec):
            if axis and whole.shape[dim] % self.mesh.size:
                raise Refused(f"a dim of {whole.shape[dim]} on {self.mesh.size} ranks: NamedSharding cuts evenly")
        sharding = NamedSharding(self.mesh, spec)
        return jax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])

    def give(self, name: str, value: Any) -> None:
        (piece,) = value.addressable_shards
        local = np.ascontiguousarray(piece.data)
        offset = [part.start or 0 for part in piece.index]
        block = {"global_offset": offset, "extent": list(local.shape), "local_offset": [0] * local.ndim}
        layout = {"global_shape": list(value.shape), "blocks": [block] if local.size else []}
        self.raw[name] = Raw(NAMES[local.dtype], list(local.shape), local.tobytes())
        self.tensors.append({"name": name, "layout": layout})

    def sharded(self, spec: P) -> NamedSharding:
        return NamedSharding(self.mesh, spec)

    def layer(self, f: Callable[[Arrays, Any], Any], x_name: str, x_spec: P, y_spec: P) -> None:
        names = [n for n in self.inputs if n not in ("x", "dy", "ids")]
        specs = {n: spec_of(n, self.operation) for n in names}
        p = {n: self.cut(self.inputs[n], specs[n]) for n in names}
        x, dy = self.cut(self.inputs[x_name], x_spec), self.cut(self.inputs["dy"], y_spec)
        grads = {n: self.sharded(specs[n]) for n in names}

        def step(p: Arrays, x: Any, dy: Any) -> Any:
            if x_name == "ids":
                y, back = jax.vjp(lambda p: f(p, x), p)
                return y, back(dy)[0]
            y, back = jax.vjp(f, p, x)
            return (y, *back(dy))

        out = (self.sharded(y_spec), grads) if x_name == "ids" else (self.sharded(y_spec), grads, self.sharded(x_spec))
        y, gradients, *dx = jax.jit(step, out_shardings=out)(p, x, dy)
        self.give("y", y)
        for value in dx:
            self.give("dx", value)
        for name in names:
            self.give("grad." + name, gradients[name])

    def loss(self) -> None:
        logits = self.cut(self.inputs["logits"], P(None, None, "tp"))
        targets, dloss = self.cut(self.inputs["targets"], P()), self.cut(self.inputs["dloss"], P())

        def step(logits: Any, targets: Any, dloss: Any) -> Any:
            mean, back, tokens = jax.vjp(lambda z: losses(self.model["loss"], z, targets), logits, has_aux=True)
            return mean.reshape(1), tokens, back(dloss[0].astype(mean.dtype))[0]

        out = (self.sharded(P()), self.sharded(P()), self.sharded(P(None, None, "tp")))
        for name, value in zip(
            ("loss", "token_loss", "dlogits"), jax.jit(step, out_shardings=out)(logits, targets, dloss)
        ):
            self.give(name, value)

    def run(self) -> Request:
        c, t, split = self.model, self.tokens, P(None, None, "tp")
        if self.operation == "column_linear":
            y = P() if self.sharding["gather_output"] else split
            self.layer(lambda p, x: linear(p, "", x), "x", t, y)
        elif self.operation == "row_linear":
            self.layer(lambda p, x: linear(p, "", x), "x", split if self.sharding["input_is_split"] else P(), t)
        elif self.operation == "mlp":
            self.layer(lambda p, x: mlp(p, c, x), "x", t, t)
        elif self.operation == "attention":
            if c["position"] == "rotary":
                raise Unsupported("rotary positions are not asked of JAX yet")
            self.layer(lambda p, x: attention(p, c, x), "x", t, t)
        elif self.operation in ("layer_norm", "rms_norm"):
            self.layer(lambda p, x: norm(p, c, x, self.operation == "layer_norm"), "x", t, t)
        elif self.operation == "vocab_embedding":
            self.layer(lambda p, ids: embedding(p, c, ids), "ids", P(), t)
        elif self.operation == "vocab_cross_entropy":
            self.loss()
        else:
            raise Unsupported(f"{self.operation} is not asked of JAX yet")
        write_tensors(self.request["answer"], self.raw)
        return {"status": "result", "tensors": self.tensors}


def answer(request: Request) -> Request:
    if request["rank"] is None:
        return {"status": "idle"}
    if request["kind"] != "operation":
        raise Unsupported("collectives and meshes are not asked of JAX yet")
    if len(request["mesh"]["shape"]) > 1:
        raise Unsupported("meshes of several axes are not asked of JAX yet")
    if request["sharding"]["sequence_parallel"] == "regathered":
        raise Unsupported("what is kept for backward is the compiler's choice")
    if request["sharding"].get("overlap_chunks", 1) != 1:
        raise Unsupported("overlap is the compiler's choice")
    by_process = {device.process_index: device for device in jax.devices()}
    mesh = Mesh(np.array([by_process[rank] for rank in request["mesh"]["ranks"]]), ("tp",))
    return Job(request, mesh).run()


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_num_cpu_devices", 1)
    where = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    world, rank = int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"])
    if world > 1:
        jax.distributed.initialize(where, num_processes=world, process_id=rank)
    jax.devices()
    serve("jax", jax.__version__, answer)


main()
