// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/recompute.hpp"

#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

RecomputeScope::RecomputeScope(Context& ctx, const StreamState& from)
    : ctx_(ctx), on_mask_(std::move(ctx.on_mask)) {
  ctx_.on_mask = nullptr;
  if (ctx.streams != nullptr) replay_.emplace(*ctx.streams, from);
}

RecomputeScope::~RecomputeScope() { ctx_.on_mask = std::move(on_mask_); }

Recomputed::Recomputed(std::unique_ptr<Layer> layer) : Layer(layer->name()), layer_(std::move(layer)) {}

Output Recomputed::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  StreamState before = ctx.streams != nullptr ? ctx.streams->state() : StreamState{};
  Output out{layer_->forward(ctx, params, x).y, {}};
  out.saved.keep("x", x);
  out.saved.keep(std::move(before));
  return out;
}

InputGradient Recomputed::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                         Saved saved) const {
  const RecomputeScope again(ctx, saved.streams());
  Output out = layer_->forward(ctx, params, saved.tensor("x"));
  return layer_->backward_input(ctx, params, dy, std::move(out.saved));
}

void Recomputed::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  layer_->backward_weight(ctx, std::move(rest), gradients);
}

std::unique_ptr<Layer> block_of(const std::string& name, const LayerPlan& plan) {
  std::unique_ptr<Layer> block = plan.parts.transformer_layer(name, plan);
  if (plan.sharding.recompute != Recompute::full) return block;
  return std::make_unique<Recomputed>(std::move(block));
}

}  // namespace tpc
