// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "reference/tensor_parallel/column_linear.hpp"
#include "reference/tensor_parallel/row_linear.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// A column linear, an activation and a row linear: the activation is element-wise, so the whole communicates
// once each way. SwiGLU (Shazeer, arXiv 2002.05202) has two column linears, gate and up, which share their
// input and are split in pairs: a rank holds the same rows of both.
class Mlp : public Layer {
 public:
  Mlp(const std::string& name, const LayerPlan& plan);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  MlpKind kind_;
  GeluForm gelu_;
  std::unique_ptr<ColumnLinears> up_;
  std::unique_ptr<RowLinear> down_;
};

}  // namespace tpc
