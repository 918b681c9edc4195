// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/column_linear.hpp"
#include "reference/tensor_parallel/row_linear.hpp"

namespace tpc {

// The GeLU MLP the wrong way round, to be held beside Mlp: fc1 row-parallel, fc2 column-parallel. The right
// answer at one call more each way: fc1's sum over the ranks is needed whole before the activation (an
// all_reduce of S·B·F), and fc2's output must be gathered (an all_gather of S·B·H); backward mirrors both.
// Without sequence parallelism.
class RowFirstMlp : public Layer {
 public:
  RowFirstMlp(const std::string& name, const LayerPlan& plan);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  GeluForm gelu_;
  std::unique_ptr<RowLinear> fc1_;
  std::unique_ptr<ColumnLinear> fc2_;
};

}  // namespace tpc
