// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/attention.hpp"
#include "reference/tensor_parallel/mlp.hpp"
#include "reference/tensor_parallel/norm.hpp"

namespace tpc {

// Pre-norm block: x1 = x + attention(norm1(x)), y = x1 + mlp(norm2(x1)). The residual stays in the layout of
// x, which under sequence parallelism is a sequence shard throughout.
class TransformerLayer : public Layer {
 public:
  TransformerLayer(const std::string& name, const ModelConfig& config, const Sharding& sharding, int rank,
                   int ranks);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  Norm norm1_;
  Attention attention_;
  Norm norm2_;
  Mlp mlp_;
};

}  // namespace tpc
