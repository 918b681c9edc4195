// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/layer.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// LayerNorm (Ba, Kiros, Hinton, arXiv 1607.06450) or RMSNorm (Zhang, Sennrich, arXiv 1910.07467) over the
// last dim of the tokens this rank holds. It never communicates: under sequence parallelism each rank's gain
// and bias gradients are a term of a sum over tp, which gradient finalisation completes.
class Norm : public Layer {
 public:
  Norm(const std::string& name, const ModelConfig& config, SequenceParallel sp);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  bool centred() const { return kind_ == NormKind::layer_norm; }

  NormKind kind_;
  std::int64_t hidden_;
  double eps_;
  SequenceParallel sp_;
};

}  // namespace tpc
