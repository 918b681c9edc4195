// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/dropout.hpp"

#include "reference/random/draws.hpp"
#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

Dropout::Dropout(std::string layer, DropoutSite site, double rate)
    : layer_(std::move(layer)), site_(site), rate_(rate) {
  drop_below(rate);  // refuses what is no probability
}

Dropout::Dropped Dropout::forward(Context& ctx, const Tensor& x, const DrawLayout& layout) const {
  TPC_EXPECT(ctx.streams != nullptr, "dropout of {} without random streams", layer_);
  const MaskSite site{layer_, site_, ctx.site.step, ctx.site.microbatch};
  const std::string label = join(layer_, std::string("mask.") + std::string(name(site_)));
  Tensor mask = draw_mask(ctx.compute(), *ctx.streams, site, layout, rate_, label);
  if (ctx.on_mask) ctx.on_mask(label, mask, layout);
  Tensor y = ctx.compute().allocate(x.dtype(), x.shape(), join(layer_, "dropped"));
  ctx.compute().dropout(y, x, mask.reshaped(x.shape()), factor());
  return {std::move(y), mask.reshaped(x.shape())};
}

void Dropout::backward(Context& ctx, const Tensor& dx, const Tensor& dy, const Tensor& mask) const {
  ctx.compute().dropout(dx, dy, mask, factor());
}

DrawLayout token_draws(const Context& ctx, SequenceParallel sp, const Tensor& x) {
  if (sp == SequenceParallel::off) return whole_layout(x.shape());
  Shape global = x.shape();
  global[0] *= ctx.tp().size;
  return cut_layout(global, {{Axis::tp, 0, ctx.tp().rank, ctx.tp().size}});
}

DrawLayout head_draws(const Context& ctx, std::int64_t batch, std::int64_t heads, std::int64_t sequence) {
  return cut_layout({batch, heads, sequence, sequence}, {{Axis::tp, 1, ctx.tp().rank, ctx.tp().size}});
}

}  // namespace tpc
