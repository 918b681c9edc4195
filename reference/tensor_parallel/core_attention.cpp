// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/core_attention.hpp"

#include "reference/tensor_parallel/parts.hpp"
#include "reference/tensor_parallel/recompute.hpp"

namespace tpc {

namespace {

// [B,a,S,D] seen as [B,k,(a/k)·S,D]: the queries of each kv head together.
Tensor by_kv_head(const Tensor& x, std::int64_t kv_heads) {
  return x.reshaped({x.size(0), kv_heads, x.size(1) / kv_heads * x.size(2), x.size(3)});
}

Tensor allocate_like(Compute& compute, const Tensor& t, const char* what) {
  return compute.allocate(t.dtype(), t.shape(), what);
}

}  // namespace

CoreAttention::CoreAttention(const std::string& name, const LayerPlan& plan)
    : config_(plan.config),
      recompute_(plan.sharding.recompute),
      dropout_(plan.parts.dropout(name, DropoutSite::attention_probabilities, config_.dropout.attention)) {}

CoreAttention::Attended CoreAttention::attend(Context& ctx, const Operands& in) const {
  Compute& compute = ctx.compute();
  const std::int64_t kv_heads = in.k.size(1);
  const Tensor q = by_kv_head(in.q, kv_heads);
  const Tensor p =
      compute.allocate(q.dtype(), {q.size(0), kv_heads, q.size(2), in.k.size(2)}, "probabilities");
  compute.gemm(p, q, Transpose::no, in.k, Transpose::yes);
  compute.softmax(p, p, attention_scale(config_), config_.causal);
  Attended out;
  out.saved.keep("probabilities", p);
  Tensor weights = p;
  if (dropout_->active(ctx)) {
    const DrawLayout layout = head_draws(ctx, q.size(0), config_.heads, in.k.size(2));
    Dropout::Dropped dropped = dropout_->forward(ctx, p, layout);
    out.saved.keep("mask", dropped.mask);
    out.saved.keep("dropped", dropped.y);
    weights = dropped.y;
  }
  out.context = allocate_like(compute, in.q, "context");
  compute.gemm(by_kv_head(out.context, kv_heads), weights, Transpose::no, in.v, Transpose::no);
  return out;
}

CoreAttention::Attended CoreAttention::forward(Context& ctx, const Operands& in) const {
  if (recompute_ != Recompute::selective) return attend(ctx, in);
  StreamState before = ctx.streams != nullptr ? ctx.streams->state() : StreamState{};
  Attended out = attend(ctx, in);
  out.saved = Saved();
  out.saved.keep(std::move(before));
  return out;
}

CoreAttention::Operands CoreAttention::backward(Context& ctx, const Operands& in, const Tensor& dcontext,
                                                Saved saved) const {
  if (recompute_ != Recompute::selective) return backward_kept(ctx, in, dcontext, saved);
  const RecomputeScope again(ctx, saved.streams());
  return backward_kept(ctx, in, dcontext, attend(ctx, in).saved);
}

CoreAttention::Operands CoreAttention::backward_kept(Context& ctx, const Operands& in, const Tensor& dcontext,
                                                     const Saved& saved) const {
  Compute& compute = ctx.compute();
  const std::int64_t kv_heads = in.k.size(1);
  const Tensor& p = saved.tensor("probabilities");
  const Tensor& weights = saved.has("dropped") ? saved.tensor("dropped") : p;
  const Tensor grouped = by_kv_head(dcontext, kv_heads);
  Operands d{allocate_like(compute, in.q, "dq"), allocate_like(compute, in.k, "dk"),
             allocate_like(compute, in.v, "dv")};
  compute.gemm(d.v, weights, Transpose::yes, grouped, Transpose::no);
  const Tensor dscores = allocate_like(compute, p, "dscores");
  compute.gemm(dscores, grouped, Transpose::no, in.v, Transpose::yes);
  if (saved.has("mask")) dropout_->backward(ctx, dscores, dscores, saved.tensor("mask"));
  compute.softmax_backward(dscores, dscores, p, attention_scale(config_));
  compute.gemm(by_kv_head(d.q, kv_heads), dscores, Transpose::no, in.k, Transpose::no);
  compute.gemm(d.k, dscores, Transpose::yes, by_kv_head(in.q, kv_heads), Transpose::no);
  return d;
}

}  // namespace tpc
