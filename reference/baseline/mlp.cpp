// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/mlp.hpp"

#include "reference/baseline/activation.hpp"
#include "reference/baseline/linear.hpp"

namespace tpc::baseline {

namespace {

Linear into_hidden(const Scope& scope, const std::string& name) {
  const ModelConfig& config = scope.config();
  return {scope.inner(name), {config.hidden, config.ffn}, config.mlp_bias};
}

Linear out_of_hidden(const Scope& scope) {
  const ModelConfig& config = scope.config();
  const std::string name = config.mlp == MlpKind::gelu ? "fc2" : "down";
  return {scope.inner(name), {config.ffn, config.hidden}, config.mlp_bias};
}

}  // namespace

Terms Mlp::forward(Values x, State& state, Magnitudes asked) const {
  const ModelConfig& config = scope_.config();
  state.x = std::move(x);
  if (config.mlp == MlpKind::gelu) {
    state.inner = into_hidden(scope_, "fc1").forward(state.x).value;
    state.hidden.resize(state.inner.size());
    for (std::size_t i = 0; i < state.inner.size(); ++i) state.hidden[i] = gelu(config.gelu, state.inner[i]);
  } else {
    state.inner = into_hidden(scope_, "gate").forward(state.x).value;
    state.up = into_hidden(scope_, "up").forward(state.x).value;
    state.hidden.resize(state.inner.size());
    for (std::size_t i = 0; i < state.inner.size(); ++i) state.hidden[i] = silu(state.inner[i]) * state.up[i];
  }
  scope_.stored("hidden", state.hidden);
  return out_of_hidden(scope_).forward(state.hidden, asked);
}

Terms Mlp::backward(const Values& dy, const State& state, Magnitudes asked) const {
  const Linear last = out_of_hidden(scope_);
  last.backward_parameters(state.hidden, dy);
  const Values dhidden = last.backward_input(dy).value;
  return scope_.config().mlp == MlpKind::gelu ? backward_gelu(dhidden, state, asked)
                                              : backward_swiglu(dhidden, state, asked);
}

Terms Mlp::backward_gelu(const Values& dhidden, const State& state, Magnitudes asked) const {
  Values dinner(dhidden.size());
  for (std::size_t i = 0; i < dinner.size(); ++i)
    dinner[i] = dhidden[i] * gelu_slope(scope_.config().gelu, state.inner[i]);
  scope_.stored("dinner", dinner);
  const Linear fc1 = into_hidden(scope_, "fc1");
  fc1.backward_parameters(state.x, dinner);
  return fc1.backward_input(dinner, asked);
}

Terms Mlp::backward_swiglu(const Values& dhidden, const State& state, Magnitudes asked) const {
  Values dgate(dhidden.size());
  Values dup(dhidden.size());
  for (std::size_t i = 0; i < dhidden.size(); ++i) {
    dgate[i] = dhidden[i] * state.up[i] * silu_slope(state.inner[i]);
    dup[i] = dhidden[i] * silu(state.inner[i]);
  }
  scope_.stored("dgate", dgate);
  scope_.stored("dup", dup);
  const Linear gate = into_hidden(scope_, "gate");
  const Linear up = into_hidden(scope_, "up");
  gate.backward_parameters(state.x, dgate);
  up.backward_parameters(state.x, dup);
  Terms dx = sum_of(gate.backward_input(dgate, asked), up.backward_input(dup, asked));
  scope_.contraction("dx", dx);
  return dx;
}

}  // namespace tpc::baseline
