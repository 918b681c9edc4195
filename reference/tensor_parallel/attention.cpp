// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/attention.hpp"

#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

HeadSlice head_slice(const ModelConfig& config, const Coordinate& tp) {
  const std::int64_t kv = config.kv_heads;
  TPC_EXPECT(config.heads % tp.size == 0 && (kv % tp.size == 0 || tp.size % kv == 0),
             "{} heads, {} kv heads over {} ranks", config.heads, kv, tp.size);
  if (kv >= tp.size) return {config.heads / tp.size, kv / tp.size, kv / tp.size * tp.rank, 1};
  const int copies = static_cast<int>(tp.size / kv);
  return {config.heads / tp.size, 1, tp.rank / copies, copies};
}

namespace {

std::vector<ColumnPart> qkv_parts(const std::string& name, const LayerPlan& plan) {
  const ModelConfig& config = plan.config;
  const HeadSlice heads = head_slice(config, plan.at.tp());
  const std::int64_t d = config.head_dim;
  const auto kv_part = [&](const char* which) {
    return ColumnPart{join(name, which), config.kv_heads * d, heads.first_kv * d, heads.kv * d,
                      heads.kv_copies};
  };
  return {even_part(join(name, "q"), config.heads * d, plan.at), kv_part("k"), kv_part("v")};
}

}  // namespace

Attention::Attention(const std::string& name, const LayerPlan& plan)
    : Layer(name),
      config_(plan.config),
      qkv_(plan.parts.column_linears(qkv_parts(name, plan),
                                     column_options(plan, join(name, "qkv"), plan.config.qkv_bias))),
      core_(name, plan),
      out_(plan.parts.row_linear(join(name, "out"), plan.at,
                                 {.in_features = plan.config.heads * plan.config.head_dim,
                                  .out_features = plan.config.hidden,
                                  .bias = plan.config.out_bias,
                                  .sequence_parallel = plan.sharding.sequence_parallel,
                                  .overlap_chunks = plan.sharding.overlap_chunks})) {}

std::vector<ParameterSpec> Attention::parameters() const {
  std::vector<ParameterSpec> specs = qkv_->parameters();
  for (ParameterSpec& spec : out_->parameters()) specs.push_back(std::move(spec));
  return specs;
}

Tensor Attention::split_heads(Compute& compute, const Tensor& x, const char* what) const {
  const std::int64_t s = x.size(0);
  const std::int64_t b = x.size(1);
  const std::int64_t h = x.size(2) / config_.head_dim;
  Tensor y = compute.allocate(x.dtype(), {b, h, s, config_.head_dim}, join(name(), what));
  compute.permute(y, x.reshaped({s, b, h, config_.head_dim}), {1, 2, 0, 3});
  return y;
}

Tensor Attention::merge_heads(Compute& compute, const Tensor& x) const {
  const std::int64_t b = x.size(0);
  const std::int64_t h = x.size(1);
  const std::int64_t s = x.size(2);
  Tensor y = compute.allocate(x.dtype(), {s, b, h * config_.head_dim}, join(name(), "merged"));
  compute.permute(y.reshaped({s, b, h, config_.head_dim}), x, {2, 0, 1, 3});
  return y;
}

Tensor Attention::rotate(Compute& compute, const Tensor& x, Direction direction) const {
  if (config_.position == PositionKind::rotary) {
    const Tensor heads = x.reshaped({x.size(0), x.size(1), x.size(2) / config_.head_dim, config_.head_dim});
    compute.rotary(heads, heads, config_, direction);
  }
  return x;
}

Output Attention::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  ColumnLinears::Outputs qkv = qkv_->forward(ctx, params, x);
  const CoreAttention::Operands operands{
      split_heads(compute, rotate(compute, qkv.y[0], Direction::forward), "q"),  // [B,a,S,D]
      split_heads(compute, rotate(compute, qkv.y[1], Direction::forward), "k"),  // [B,k,S,D]
      split_heads(compute, qkv.y[2], "v")};                                      // [B,k,S,D]
  qkv.y.clear();
  CoreAttention::Attended attended = core_.forward(ctx, operands);
  Output projected = out_->forward(ctx, params, merge_heads(compute, attended.context));

  Output out{projected.y, {}};
  out.saved.keep("q", operands.q);
  out.saved.keep("k", operands.k);
  out.saved.keep("v", operands.v);
  out.saved.keep("core", std::move(attended.saved));
  out.saved.keep("qkv", std::move(qkv.saved));
  out.saved.keep("out", std::move(projected.saved));
  return out;
}

InputGradient Attention::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                        Saved saved) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  InputGradient projected = out_->backward_input(ctx, params, dy, saved.take("out"));
  const CoreAttention::Operands operands{saved.tensor("q"), saved.tensor("k"), saved.tensor("v")};
  const Tensor dcontext = split_heads(compute, projected.dx, "dcontext");
  const CoreAttention::Operands d = core_.backward(ctx, operands, dcontext, saved.take("core"));
  const std::vector<Tensor> dqkv = {rotate(compute, merge_heads(compute, d.q), Direction::backward),
                                    rotate(compute, merge_heads(compute, d.k), Direction::backward),
                                    merge_heads(compute, d.v)};
  InputGradient columns = qkv_->backward_input(ctx, params, dqkv, saved.take("qkv"));
  Saved rest;
  rest.keep("qkv", std::move(columns.rest));
  rest.keep("out", std::move(projected.rest));
  return {columns.dx, std::move(rest)};
}

void Attention::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  out_->backward_weight(ctx, rest.take("out"), gradients);
  qkv_->backward_weight(ctx, rest.take("qkv"), gradients);
}

}  // namespace tpc
