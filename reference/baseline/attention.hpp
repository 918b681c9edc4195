// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/dropout.hpp"
#include "reference/baseline/linear.hpp"
#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// Self-attention with its four projections: y = out(dropout(softmax(mask(q·kᵀ·scale)))·v). Query head a reads
// kv head a / (A/K).
class Attention {
 public:
  struct State {
    Values x;
    Values q;              // [S, B, A·D], turned where rotary
    Values k;              // [S, B, K·D], turned where rotary
    Values v;              // [S, B, K·D]
    Values probabilities;  // [B, A, S, S]: query, key
    Values dropped;        // the same after dropout; empty where there is none
    Values context;        // [S, B, A·D]
  };
  explicit Attention(Scope scope);

  Terms forward(Values x, State& state, Magnitudes asked) const;
  Terms backward(const Values& dy, const State& state, Magnitudes asked) const;

 private:
  Shape pairs_shape() const;
  const Values& weights(const State& state) const {
    return dropout_.active() ? state.dropped : state.probabilities;
  }
  Values softmax_of_scores(Values scores) const;
  Terms scores_gradient(const Values& probabilities, const Values& dprobabilities) const;

  Scope scope_;
  Linear q_;
  Linear k_;
  Linear v_;
  Linear out_;
  Dropout dropout_;
};

}  // namespace tpc::baseline
