// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/block.hpp"

#include <algorithm>
#include <utility>

namespace tpc::baseline {

Block::Block(const Scope& scope)
    : scope_(scope),
      norm1_(scope.inner("norm1"), scope.config().norm),
      attention_(scope.inner("attention")),
      attention_dropout_(scope.inner("attention"), "attention_output", scope.config().dropout.hidden),
      norm2_(scope.inner("norm2"), scope.config().norm),
      mlp_(scope.inner("mlp")),
      mlp_dropout_(scope.inner("mlp"), "mlp_output", scope.config().dropout.hidden) {}

Terms Block::add_residual(const std::string& name, const Values& residual, Terms branch) const {
  accumulate(branch.value, residual);
  if (!branch.magnitudes.empty()) accumulate(branch.magnitudes, absolute(residual));
  branch.unit = std::min(branch.unit, scope_.unit(residual));
  branch.units.clear();
  scope_.contraction(name, branch);
  return branch;
}

Terms Block::forward(const Values& x, State& state, Magnitudes asked) const {
  Terms normalised = norm1_.forward(x, state.norm1, Magnitudes::skipped);
  Terms branch = attention_.forward(std::move(normalised.value), state.attention, Magnitudes::skipped);
  branch = attention_dropout_.apply(std::move(branch), shape());
  const Values middle = add_residual("residual1", x, std::move(branch)).value;
  normalised = norm2_.forward(middle, state.norm2, Magnitudes::skipped);
  branch = mlp_.forward(std::move(normalised.value), state.mlp, asked);
  branch = mlp_dropout_.apply(std::move(branch), shape());
  return add_residual("residual2", middle, std::move(branch));
}

Terms Block::backward(const Values& dy, const State& state, Magnitudes asked) const {
  Values inner = mlp_.backward(mlp_dropout_.apply(dy, shape()), state.mlp, Magnitudes::skipped).value;
  Terms branch = norm2_.backward(inner, state.norm2, Magnitudes::skipped);
  const Values dmiddle = add_residual("dresidual2", dy, std::move(branch)).value;
  inner =
      attention_.backward(attention_dropout_.apply(dmiddle, shape()), state.attention, Magnitudes::skipped)
          .value;
  branch = norm1_.backward(inner, state.norm1, asked);
  return add_residual("dresidual1", dmiddle, std::move(branch));
}

}  // namespace tpc::baseline
