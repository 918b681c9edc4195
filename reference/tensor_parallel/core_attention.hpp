// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "reference/tensor_parallel/dropout.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// softmax(scale·q·kᵀ)·v on the heads of one rank, with dropout on the probabilities. Nothing here
// communicates. q [B,a,S,D]; k, v [B,k,S,D]; the a/k query heads of a kv head are neighbours.
class CoreAttention {
 public:
  CoreAttention(const std::string& name, const LayerPlan& plan);

  struct Operands {
    Tensor q, k, v;
  };
  struct Attended {
    Tensor context;  // [B,a,S,D]
    Saved saved;     // without the operands
  };
  Attended forward(Context& ctx, const Operands& in) const;
  // The gradients of q, k and v.
  Operands backward(Context& ctx, const Operands& in, const Tensor& dcontext, Saved saved) const;

 private:
  Attended attend(Context& ctx, const Operands& in) const;
  Operands backward_kept(Context& ctx, const Operands& in, const Tensor& dcontext, const Saved& saved) const;

  ModelConfig config_;
  Recompute recompute_;
  std::unique_ptr<Dropout> dropout_;
};

}  // namespace tpc
