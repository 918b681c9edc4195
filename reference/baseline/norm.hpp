// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// y = x̂ ⊙ gain (+ bias), x̂ = (x - mean)·r with r = 1/sqrt(variance + eps); rms_norm takes the mean as 0 and
// has no bias.
class Norm {
 public:
  struct State {
    Values normalised;  // x̂ [tokens, H]
    Values rstd;        // r [tokens]
  };
  Norm(Scope scope, NormKind kind) : scope_(std::move(scope)), kind_(kind) {}

  Terms forward(const Values& x, State& state, Magnitudes asked) const;
  Terms backward(const Values& dy, const State& state, Magnitudes asked) const;

 private:
  void normalise(const Values& x, State& state) const;
  void parameter_gradients(const Values& dy, const State& state) const;

  Scope scope_;
  NormKind kind_;
};

}  // namespace tpc::baseline
