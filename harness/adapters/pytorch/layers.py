# SPDX-License-Identifier: Apache-2.0
"""Operations of one layer, the loss, and the whole model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Placement, Replicate, Shard
from torch.distributed.tensor.parallel import loss_parallel
from tp_protocol import Unsupported

import model as plain
import plan
import stopwatch
from tensors import BY_CASE, Answers, local_part, read_inputs
from kept import Kept
from recorder import Recorder

Request = dict[str, Any]


def canonical(name: str) -> str:
    """The suite's name of a parameter."""
    name = f".{name}"
    for torch_name, suite_name in (
        (".norm.weight", ".gain"),
        (".norm.bias", ".bias"),
        (".embedding.tokens.", ".embedding."),
        (".tokens.", "."),
        (".embedding.positions.", ".positions."),
    ):
        name = name.replace(torch_name, suite_name)
    return name[1:]


def load(module: nn.Module, inputs: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(inputs[canonical(name)])


def refuse_what_is_missing(request: Request) -> None:
    config, sharding = request["model"], request["sharding"]
    if len(request["mesh"]["shape"]) > 1:
        raise Unsupported("meshes of several axes are not asked of torch yet")
    if sharding["sequence_parallel"] == "regathered":
        raise Unsupported("DTensor keeps the gathered input; it has no form that gathers it again")
    if sharding.get("overlap_chunks", 1) != 1:
        raise Unsupported("collectives in chunks are not asked of torch")
    if sharding["recompute"] != "none":
        raise Unsupported("recomputation is not asked of torch yet")
    if sharding["mlp_order"] != "column_first":
        raise Unsupported("a row-first MLP is not asked of torch")
    if any(rate > 0 for rate in config["dropout"].values()) and request["random"]["training"]:
        raise Unsupported("torch's dropout does not hand out its masks")


class Layer:
    """A layer that is cut, with the layouts of what goes in and comes out."""

    def __init__(self, module: nn.Module, style: Any, x: Placement, y: Placement) -> None:
        self.module, self.style, self.x, self.y = module, style, x, y


def build(request: Request, cut: plan.Cut) -> Layer:
    config, dtype, operation = request["model"], BY_CASE[request["dtype"]], request["operation"]
    h, f, bias = config["hidden"], config["ffn"], config["mlp_bias"]
    if operation == "column_linear":
        y: Placement = Replicate() if cut.gather_output else Shard(2)
        return Layer(plain.linear(h, f, bias, dtype), cut.column_linear(), cut.tokens, y)
    if operation == "row_linear":
        x: Placement = Shard(2) if cut.input_is_split else Replicate()
        return Layer(plain.linear(f, h, bias, dtype), cut.row_linear(), x, cut.tokens)
    if operation == "mlp":
        return Layer(plain.Mlp(config, dtype), cut.mlp(config["mlp"] == "swiglu"), cut.tokens, cut.tokens)
    if operation == "attention":
        return Layer(plain.Attention(config, dtype), cut.attention(), cut.tokens, cut.tokens)
    if operation in ("layer_norm", "rms_norm"):
        return Layer(plain.Norm(config, operation, dtype), {"norm": cut.norm()}, cut.tokens, cut.tokens)
    if operation == "transformer_layer":
        return Layer(plain.Block(config, dtype), cut.block(config["mlp"] == "swiglu"), cut.tokens, cut.tokens)
    if operation == "vocab_embedding":
        style = cut.embedding(config["position"] == "learned")
        return Layer(plain.Embedding(config, dtype), style, Replicate(), cut.tokens)
    raise Unsupported(f"{operation} is not asked of torch yet")


def cut_of(request: Request, mesh: DeviceMesh) -> plan.Cut:
    return plan.Cut(request["sharding"], request["model"], mesh.size())


def to_local(x: Tensor) -> Tensor:
    return x.to_local() if isinstance(x, DTensor) else x


def run(request: Request, mesh: DeviceMesh) -> dict[str, Any]:
    refuse_what_is_missing(request)
    inputs = read_inputs(request["inputs"])
    if request["operation"] == "init":
        return run_init(request, mesh)
    if request["operation"] == "vocab_cross_entropy":
        return run_cross_entropy(request, mesh, inputs)
    if request["operation"] == "model":
        return run_model(request, mesh, inputs)
    layer = build(request, cut_of(request, mesh))
    load(layer.module, inputs)
    module = plan.apply(layer.module, mesh, layer.style)
    embeds = request["operation"] == "vocab_embedding"
    whole = inputs["ids" if embeds else "x"]
    x = local_part(whole, mesh, layer.x)
    x.requires_grad_(not embeds)
    dy = local_part(inputs["dy"], mesh, layer.y) if "backward" in request["script"] else None
    seconds = stopwatch.seconds(lambda: step(module, x, dy), request, mesh)
    clear_gradients(module, x)
    answers, calls, kept = Answers(mesh), Recorder(mesh), Kept(module)
    with calls:
        with kept:
            y = to_local(module(x))
        shape = list(whole.shape[:2]) + [inputs["dy"].shape[2]]
        answers.give("y", y, shape, layer.y)
        if dy is not None:
            calls.phase = "backward"
            y.backward(dy)
            if not embeds:
                answers.give("dx", gradient(x), whole.shape, layer.x)
            give_gradients(answers, module, calls)
    return {**answers.response(request["answer"], calls.calls), "seconds": seconds, "kept": kept.bytes()}


def step(module: nn.Module, x: Tensor, dy: Tensor | None) -> None:
    """What is timed: forward, and backward where there is an upstream gradient."""
    clear_gradients(module, x)
    y = to_local(module(x))
    if dy is not None:
        y.backward(dy)


def clear_gradients(module: nn.Module, x: Tensor) -> None:
    x.grad = None
    module.zero_grad(set_to_none=True)


def gradient(x: Tensor) -> Tensor:
    if x.grad is None:
        raise RuntimeError("an input got no gradient")
    return x.grad


def give_gradients(answers: Answers, module: nn.Module, calls: Recorder) -> None:
    calls.phase = "finalise"
    for name, parameter in module.named_parameters():
        if parameter.grad is None:
            raise RuntimeError(f"{name} got no gradient")
        answers.give_parameter("grad." + canonical(name), parameter, parameter.grad)


def mean_loss(logits: Tensor, targets: Tensor, loss: dict[str, Any]) -> Tensor:
    valid = loss["mean_over"] == "valid_tokens"
    if valid and not plain.has_own_terms(loss):
        return plain.cross_entropy(logits, targets, loss, "mean")
    count = (targets != loss["ignore_index"]).sum() if valid else targets.numel()
    return plain.token_losses(logits, targets, loss).sum() / count


def give_losses(answers: Answers, logits: Tensor, targets: Tensor, loss: dict[str, Any], mean: Tensor) -> None:
    tokens = plain.token_losses(logits.detach(), targets, loss)
    for name, value, shape in (("loss", mean, [1]), ("token_loss", tokens, list(targets.shape))):
        whole = value.full_tensor() if isinstance(value, DTensor) else value
        answers.give(name, whole.reshape(shape), shape, Replicate())


def run_cross_entropy(request: Request, mesh: DeviceMesh, inputs: dict[str, Tensor]) -> dict[str, Any]:
    loss, targets, whole = request["model"]["loss"], inputs["targets"], inputs["logits"]
    local = local_part(whole, mesh, Shard(2)).requires_grad_()
    logits = DTensor.from_local(local, mesh, [Shard(2)], run_check=False, shape=whole.shape, stride=whole.stride())
    answers, calls = Answers(mesh), Recorder(mesh)
    with loss_parallel():
        with calls:
            mean = mean_loss(logits, targets, loss)
            calls.phase = "backward"
            if "backward" in request["script"]:
                (mean * inputs["dloss"].to(mean.dtype)).sum().backward()
        give_losses(answers, logits, targets, loss, mean)
    if "backward" in request["script"]:
        answers.give("dlogits", gradient(local), whole.shape, Shard(2))
    return answers.response(request["answer"], calls.calls)


def cut_model(request: Request, mesh: DeviceMesh, inputs: dict[str, Tensor]) -> plain.Model:
    config = request["model"]
    module = plain.Model(config, BY_CASE[request["dtype"]])
    if config["tied_head"]:
        module.tie()
    load(module, inputs)
    plan.apply(module, mesh, cut_of(request, mesh).model(config))
    if config["tied_head"]:
        module.tie()  # parallelize_module made two parameters of it
    return module


def run_model(request: Request, mesh: DeviceMesh, inputs: dict[str, Tensor]) -> dict[str, Any]:
    module = cut_model(request, mesh, inputs)
    loss, targets = request["model"]["loss"], inputs["targets"]
    answers, calls = Answers(mesh), Recorder(mesh)
    with loss_parallel():
        with calls:
            logits = module(inputs["ids"])
            mean = mean_loss(logits, targets, loss)
            calls.phase = "backward"
            if "backward" in request["script"]:
                (mean * inputs["dloss"].to(mean.dtype)).sum().backward()
        give_losses(answers, logits, targets, loss, mean)
    if "backward" in request["script"]:
        with calls:
            give_gradients(answers, module, calls)
    return answers.response(request["answer"], calls.calls)


def run_init(request: Request, mesh: DeviceMesh) -> dict[str, Any]:
    """Twice in a row, on parameters that are cut already, with one seed on all ranks, as DTensor's manual has it."""
    config = request["model"]
    if request["random"]["profile"] != "dtensor":
        raise Unsupported("torch draws its own numbers: only the relations of profile dtensor can be judged")
    module = plain.Model(config, BY_CASE[request["dtype"]])
    plan.apply(module, mesh, cut_of(request, mesh).model(config))
    if config["tied_head"]:
        module.tie()
    answers = Answers(mesh)
    torch.manual_seed(request["seed"])
    for prefix in ("", "repeated."):
        for name, parameter in module.named_parameters():
            suite_name = canonical(name)
            if suite_name.endswith(".gain"):
                nn.init.ones_(parameter)
            elif suite_name.endswith(".bias"):
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=std_of(suite_name, parameter, request))
            answers.give_parameter(prefix + suite_name, parameter, parameter.detach().clone())
    return answers.response(request["answer"])


def std_of(name: str, weight: Tensor, request: Request) -> float:
    """As GPT-2 begins: what ends on the residual is divided by the root of the number of its terms."""
    init, table = request["init"], name in ("embedding.weight", "positions.weight")
    std = weight.shape[1] ** -0.5 if init["inverse_root_fan_in"] and not table else init["std"]
    ends = name.endswith(("attention.out.weight", "mlp.fc2.weight", "mlp.down.weight"))
    return float(std * (2 * request["model"]["layers"]) ** -0.5 if ends else std)
