// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "reference/tensor_parallel/layer.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// For as long as it lives the random streams stand where they stood before the forward that is computed
// again, and masks are drawn for nobody else to see; then all is as before.
class RecomputeScope {
 public:
  RecomputeScope(Context& ctx, const StreamState& from);
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;
  ~RecomputeScope();

 private:
  Context& ctx_;
  std::optional<ReplayScope> replay_;
  decltype(Context::on_mask) on_mask_;
};

// A layer that keeps nothing but its input and where the streams stood, and computes the rest again before
// backward: what its forward sends is sent again.
class Recomputed : public Layer {
 public:
  explicit Recomputed(std::unique_ptr<Layer> layer);

  std::vector<ParameterSpec> parameters() const override { return layer_->parameters(); }
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  std::unique_ptr<Layer> layer_;
};

// A block, recomputed where the sharding says so.
std::unique_ptr<Layer> block_of(const std::string& name, const LayerPlan& plan);

}  // namespace tpc
