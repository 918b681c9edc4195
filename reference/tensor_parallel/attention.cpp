// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/attention.hpp"

#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

HeadSlice head_slice(const ModelConfig& config, int rank, int ranks) {
  const std::int64_t kv = config.kv_heads;
  TPC_EXPECT(config.heads % ranks == 0 && (kv % ranks == 0 || ranks % kv == 0),
             "{} heads, {} kv heads over {} ranks", config.heads, kv, ranks);
  if (kv >= ranks) return {config.heads / ranks, kv / ranks, kv / ranks * rank, 1};
  const int copies = static_cast<int>(ranks / kv);
  return {config.heads / ranks, 1, rank / copies, copies};
}

namespace {

std::vector<ColumnPart> qkv_parts(const std::string& name, const ModelConfig& config, int rank, int ranks) {
  const HeadSlice heads = head_slice(config, rank, ranks);
  const std::int64_t d = config.head_dim;
  std::vector<std::string> pending;
  if (heads.kv_copies > 1) pending.emplace_back(kv_copies_axis);
  const auto kv_part = [&](const char* which) {
    return ColumnPart{join(name, which), config.kv_heads * d, heads.first_kv * d, heads.kv * d, pending};
  };
  return {even_part(join(name, "q"), config.heads * d, rank, ranks), kv_part("k"), kv_part("v")};
}

ColumnLinears qkv_columns(const std::string& name, const ModelConfig& config, const Sharding& sharding,
                          int rank, int ranks) {
  return {qkv_parts(name, config, rank, ranks),
          {join(name, "qkv"), config.hidden, config.qkv_bias, sharding.fused, sharding.sequence_parallel,
           sharding.own_entries ? ColumnLinears::Entry::own : ColumnLinears::Entry::shared,
           sharding.overlap_chunks}};
}

}  // namespace

Attention::Attention(const std::string& name, const ModelConfig& config, const Sharding& sharding, int rank,
                     int ranks)
    : Layer(name),
      config_(config),
      heads_(head_slice(config, rank, ranks)),
      qkv_(qkv_columns(name, config, sharding, rank, ranks)),
      core_(name, config, sharding.recompute),
      out_(join(name, "out"), rank, ranks,
           {config.heads * config.head_dim, config.hidden, config.out_bias, true, sharding.sequence_parallel,
            sharding.overlap_chunks}) {}

std::vector<ParameterSpec> Attention::parameters() const {
  std::vector<ParameterSpec> specs = qkv_.parameters();
  for (ParameterSpec& spec : out_.parameters()) specs.push_back(std::move(spec));
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
  ColumnLinears::Outputs qkv = qkv_.forward(ctx, params, x);
  const CoreAttention::Operands operands{
      split_heads(compute, rotate(compute, qkv.y[0], Direction::forward), "q"),  // [B,a,S,D]
      split_heads(compute, rotate(compute, qkv.y[1], Direction::forward), "k"),  // [B,k,S,D]
      split_heads(compute, qkv.y[2], "v")};                                      // [B,k,S,D]
  qkv.y.clear();
  CoreAttention::Attended attended = core_.forward(ctx, operands);
  Output projected = out_.forward(ctx, params, merge_heads(compute, attended.context));

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
  InputGradient projected = out_.backward_input(ctx, params, dy, saved.take("out"));
  const CoreAttention::Operands operands{saved.tensor("q"), saved.tensor("k"), saved.tensor("v")};
  const Tensor dcontext = split_heads(compute, projected.dx, "dcontext");
  const CoreAttention::Operands d = core_.backward(ctx, operands, dcontext, saved.take("core"));
  const std::vector<Tensor> dqkv = {rotate(compute, merge_heads(compute, d.q), Direction::backward),
                                    rotate(compute, merge_heads(compute, d.k), Direction::backward),
                                    merge_heads(compute, d.v)};
  InputGradient columns = qkv_.backward_input(ctx, params, dqkv, saved.take("qkv"));
  Saved rest;
  rest.keep("qkv", std::move(columns.rest));
  rest.keep("out", std::move(projected.rest));
  return {columns.dx, std::move(rest)};
}

void Attention::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  out_.backward_weight(ctx, rest.take("out"), gradients);
  qkv_.backward_weight(ctx, rest.take("qkv"), gradients);
}

}  // namespace tpc
