// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/attention.hpp"
#include "reference/tensor_parallel/mlp.hpp"
#include "reference/tensor_parallel/norm.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// Pre-norm block: x1 = x + dropout(attention(norm1(x))), y = x1 + dropout(mlp(norm2(x1))). The residual stays
// in the layout of x, which under sequence parallelism is a sequence shard throughout.
class TransformerLayer : public Layer {
 public:
  TransformerLayer(const std::string& name, const LayerPlan& plan);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 protected:
  // A step: what goes around a branch is added to what comes out of it.
  virtual void add_residual(Context& ctx, const Tensor& y, const Tensor& x) const;
  SequenceParallel sequence_parallel() const { return sp_; }

 private:
  // One of the two: y = x + dropout(branch(norm(x))).
  struct Half {
    const Norm& norm;
    const Layer& branch;
    const Dropout& dropout;
  };
  Half first() const { return {norm1_, attention_, *attention_dropout_}; }
  Half second() const { return {norm2_, mlp_, *mlp_dropout_}; }
  Output forward_half(Context& ctx, const Parameters& params, const Tensor& x, const Half& half) const;
  InputGradient backward_half(Context& ctx, const Parameters& params, const Tensor& dy, Saved saved,
                              const Half& half) const;

  SequenceParallel sp_;
  Norm norm1_;
  Attention attention_;
  std::unique_ptr<Dropout> attention_dropout_;
  Norm norm2_;
  Mlp mlp_;
  std::unique_ptr<Dropout> mlp_dropout_;
};

}  // namespace tpc
