# SPDX-License-Identifier: Apache-2.0
"""How the plain layers are cut: torch's own styles, applied by parallelize_module. Sequences are dim 0."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_module
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

Plan = dict[str, ParallelStyle]


class Replicated(ParallelStyle):
    """A layer that every rank computes alike, with DTensor parameters, so that optimizers meet one kind only."""

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        def enter(_: nn.Module, inputs: tuple[Tensor, ...], mesh: DeviceMesh) -> tuple[DTensor, ...]:
            return tuple(DTensor.from_local(x, mesh, [Replicate()], run_check=False) for x in inputs)

        def leave(_: nn.Module, outputs: DTensor, __: DeviceMesh) -> Tensor:
            return outputs.to_local()

        return distribute_module(module, device_mesh, None, enter, leave)


class CopiedHeads(ParallelStyle):
    """Fewer kv heads than ranks: each rank keeps the whole projection and takes the head that its queries share, so
    that the gradient is a sum that is pending."""

    def __init__(self, layout: Placement, heads: int, head_dim: int) -> None:
        super().__init__()
        self.layout, self.heads, self.head_dim = layout, heads, head_dim

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        head = device_mesh.get_local_rank() * self.heads // device_mesh.size()

        def enter(_: nn.Module, inputs: tuple[Tensor, ...], mesh: DeviceMesh) -> DTensor:
            x = inputs[0]
            if not isinstance(x, DTensor):
                x = DTensor.from_local(x, mesh, [self.layout], run_check=False)
            return x.redistribute(placements=[Replicate()])

        def leave(_: nn.Module, outputs: DTensor, __: DeviceMesh) -> Tensor:
            return outputs.to_local(grad_placements=[Partial()]).narrow(-1, head * self.head_dim, self.head_dim)

        return distribute_module(module, device_mesh, None, enter, leave)


class Cut:
    """The layouts of one request."""

    def __init__(self, sharding: dict[str, Any], config: dict[str, Any], ranks: int) -> None:
        self.config = config
        self.copied_heads = config["kv_heads"] < ranks and ranks % config["kv_heads"] == 0
        self.sequence_parallel = sharding["sequence_parallel"] != "off"
        self.tokens = Shard(0) if self.sequence_parallel else Replicate()
        self.gather_output = sharding["gather_output"]
        self.input_is_split = sharding["input_is_split"]
        self.own_entries = sharding["own_entries"]

    def whole(self) -> PrepareModuleInput:
        """One entry for all the column linears that read the same input."""
        return PrepareModuleInput(input_layouts=(self.tokens,), desired_input_layouts=(Replicate(),))

    def entered_column(self) -> ColwiseParallel:
        return ColwiseParallel(input_layouts=self.tokens if self.own_entries else Replicate())

    def entry(self, at: str) -> Plan:
        return {} if self.own_entries else {at: self.whole()}

    def row(self) -> RowwiseParallel:
        return RowwiseParallel(output_layouts=self.tokens)

    def norm(self) -> ParallelStyle:
        return SequenceParallel(sequence_dim=0) if self.sequence_parallel else Replicated()

    def column_linear(self) -> ParallelStyle:
        output = Replicate() if self.gather_output else Shard(-1)
        return ColwiseParallel(input_layouts=self.tokens, output_layouts=output)

    def row_linear(self) -> ParallelStyle:
        split = Shard(-1) if self.input_is_split else Replicate()
        return RowwiseParallel(input_layouts=split, output_layouts=self.tokens)

    def mlp(self, swiglu: bool, at: str = "") -> Plan:
        columns, row = (("gate", "up"), "down") if swiglu else (("fc1",), "fc2")
        entered = {join(at, c): self.entered_column() for c in columns}
        return {**self.entry(at), **entered, join(at, row): self.row()}

    def attention(self, at: str = "") -> Plan:
        columns: Plan = {join(at, c): self.entered_column() for c in ("q", "k", "v")}
        if self.copied_heads:
            columns |= {join(at, c): self.copied() for c in ("k", "v")}
        return {**self.entry(at), **columns, join(at, "out"): self.row()}

    def copied(self) -> ParallelStyle:
        layout = self.tokens if self.own_entries else Replicate()
        return CopiedHeads(layout, self.config["kv_heads"], self.config["head_dim"])

    def embedding(self, positions: bool, at: str = "") -> Plan:
        tables = ("tokens", "positions") if positions else ("tokens",)
        style = {"input_layouts": Replicate(), "output_layouts": self.tokens}
        return {join(at, table): RowwiseParallel(**style) for table in tables}

    def block(self, swiglu: bool, at: str = "") -> Plan:
        return {
            **self.attention(join(at, "attention")),
            **self.mlp(swiglu, join(at, "mlp")),
            **self.norms(at, "norm1", "norm2"),
        }

    def norms(self, at: str, *names: str) -> Plan:
        return {join(join(at, name), "norm"): self.norm() for name in names}

    def model(self, config: dict[str, Any]) -> Plan:
        plan = self.embedding(config["position"] == "learned", "embedding")
        for i in range(config["layers"]):
            plan |= self.block(config["mlp"] == "swiglu", f"blocks.{i}")
        plan |= self.norms("", "final_norm")
        # Logits stay cut by vocabulary, for loss_parallel.
        plan["head"] = ColwiseParallel(input_layouts=self.tokens, output_layouts=Shard(-1), use_local_output=False)
        return plan


def join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def apply(module: nn.Module, mesh: DeviceMesh, plan: Plan | ParallelStyle) -> nn.Module:
    if isinstance(plan, ParallelStyle):
        return parallelize_module(module, mesh, plan)
    own = plan.pop("", None)
    module = parallelize_module(module, mesh, plan)
    return parallelize_module(module, mesh, own) if own is not None else module
