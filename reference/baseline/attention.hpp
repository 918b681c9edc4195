// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/linear.hpp"
#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// Self-attention with its four projections: y = out(softmax(mask(q·kᵀ·scale))·v). Query head a reads kv head
// a / (A/K).
class Attention {
 public:
  struct State {
    Values x;
    Values q;              // [S, B, A·D], turned where rotary
    Values k;              // [S, B, K·D], turned where rotary
    Values v;              // [S, B, K·D]
    Values probabilities;  // [B, A, S, S]: query, key
    Values context;        // [S, B, A·D]
  };
  explicit Attention(Scope scope);

  Terms forward(Values x, State& state, Magnitudes asked) const;
  Terms backward(const Values& dy, const State& state, Magnitudes asked) const;

 private:
  Values softmax_of_scores(Values scores) const;
  Values scores_gradient(const Values& probabilities, const Values& dprobabilities) const;

  Scope scope_;
  Linear q_;
  Linear k_;
  Linear v_;
  Linear out_;
};

}  // namespace tpc::baseline
