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
          {join(name, "qkv"), config.hidden, config.qkv_bias, sharding.fused, sharding.sequence_parallel}};
}

}  // namespace

Attention::Attention(const std::string& name, const ModelConfig& config, const Sharding& sharding, int rank,
                     int ranks)
    : Layer(name),
      config_(config),
      heads_(head_slice(config, rank, ranks)),
      qkv_(qkv_columns(name, config, sharding, rank, ranks)),
      out_(join(name, "out"), rank, ranks,
           {config.heads * config.head_dim, config.hidden, config.out_bias, true,
            sharding.sequence_parallel}) {}

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

Tensor Attention::grouped(const Tensor& x) const {
  const std::int64_t group = heads_.query / heads_.kv;
  return x.reshaped({x.size(0), heads_.kv, group * x.size(2), x.size(3)});
}

Output Attention::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  ColumnLinears::Outputs qkv = qkv_.forward(ctx, params, x);
  const Tensor q = split_heads(compute, rotate(compute, qkv.y[0], Direction::forward), "q");  // [B,a,S,D]
  const Tensor k = split_heads(compute, rotate(compute, qkv.y[1], Direction::forward), "k");  // [B,k,S,D]
  const Tensor v = split_heads(compute, qkv.y[2], "v");                                       // [B,k,S,D]
  qkv.y.clear();

  const Tensor grouped_q = grouped(q);
  const Tensor p =
      compute.allocate(q.dtype(), {q.size(0), heads_.kv, grouped_q.size(2), k.size(2)}, "probabilities");
  compute.gemm(p, grouped_q, Transpose::no, k, Transpose::yes);
  compute.softmax(p, p, attention_scale(config_), config_.causal);
  const Tensor context = compute.allocate(q.dtype(), q.shape(), join(name(), "context"));
  compute.gemm(grouped(context), p, Transpose::no, v, Transpose::no);
  Output projected = out_.forward(ctx, params, merge_heads(compute, context));

  Output out{projected.y, {}};
  out.saved.keep("q", q);
  out.saved.keep("k", k);
  out.saved.keep("v", v);
  out.saved.keep("probabilities", p);
  out.saved.keep("qkv", std::move(qkv.saved));
  out.saved.keep("out", std::move(projected.saved));
  return out;
}

InputGradient Attention::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                        Saved saved) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  InputGradient projected = out_.backward_input(ctx, params, dy, saved.take("out"));
  const Tensor& q = saved.tensor("q");
  const Tensor& k = saved.tensor("k");
  const Tensor& v = saved.tensor("v");
  const Tensor& p = saved.tensor("probabilities");
  const Tensor dcontext = split_heads(compute, projected.dx, "dcontext");
  const auto like = [&](const Tensor& t, const char* what) {
    return compute.allocate(t.dtype(), t.shape(), what);
  };

  const Tensor dv = like(v, "dv");
  compute.gemm(dv, p, Transpose::yes, grouped(dcontext), Transpose::no);
  const Tensor dscores = like(p, "dscores");
  compute.gemm(dscores, grouped(dcontext), Transpose::no, v, Transpose::yes);
  compute.softmax_backward(dscores, dscores, p, attention_scale(config_));
  const Tensor dq = like(q, "dq");
  compute.gemm(grouped(dq), dscores, Transpose::no, k, Transpose::no);
  const Tensor dk = like(k, "dk");
  compute.gemm(dk, dscores, Transpose::yes, grouped(q), Transpose::no);

  const std::vector<Tensor> dqkv = {rotate(compute, merge_heads(compute, dq), Direction::backward),
                                    rotate(compute, merge_heads(compute, dk), Direction::backward),
                                    merge_heads(compute, dv)};
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
