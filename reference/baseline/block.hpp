// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/attention.hpp"
#include "reference/baseline/mlp.hpp"
#include "reference/baseline/norm.hpp"

namespace tpc::baseline {

// Pre-norm: r = x + dropout(attention(norm1(x))), y = r + dropout(mlp(norm2(r))).
class Block {
 public:
  struct State {
    Norm::State norm1;
    Attention::State attention;
    Norm::State norm2;
    Mlp::State mlp;
  };
  explicit Block(const Scope& scope);

  Terms forward(const Values& x, State& state, Magnitudes asked) const;
  Terms backward(const Values& dy, const State& state, Magnitudes asked) const;

 private:
  Shape shape() const { return {scope_.sequence(), scope_.batch(), scope_.config().hidden}; }
  Terms add_residual(const std::string& name, const Values& residual, Terms branch) const;

  Scope scope_;
  Norm norm1_;
  Attention attention_;
  Dropout attention_dropout_;
  Norm norm2_;
  Mlp mlp_;
  Dropout mlp_dropout_;
};

}  // namespace tpc::baseline
