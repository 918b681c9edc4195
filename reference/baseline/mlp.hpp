// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// gelu:   y = fc2(gelu(fc1(x)))
// swiglu: y = down(silu(gate(x)) ⊙ up(x))
class Mlp {
 public:
  struct State {
    Values x;
    Values inner;   // fc1(x), or gate(x)
    Values up;      // swiglu only
    Values hidden;  // what the last linear reads
  };
  explicit Mlp(Scope scope) : scope_(std::move(scope)) {}

  Terms forward(Values x, State& state, Magnitudes asked) const;
  Terms backward(const Values& dy, const State& state, Magnitudes asked) const;

 private:
  Terms backward_gelu(const Values& dhidden, const State& state, Magnitudes asked) const;
  Terms backward_swiglu(const Values& dhidden, const State& state, Magnitudes asked) const;

  Scope scope_;
};

}  // namespace tpc::baseline
