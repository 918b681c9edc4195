// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/vocab_embedding.hpp"

#include "reference/faults/fault.hpp"
#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/planted_loss.hpp"
#include "reference/tensor_parallel/regions.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

namespace {

constexpr std::int64_t padding_id = 1;  // of the fault that has one

Tensor in_f32(Compute& compute, const Tensor& x) {
  Tensor wide = compute.allocate(x.dtype() == DType::bf16 ? DType::f32 : x.dtype(), x.shape(), "in f32");
  compute.copy(wide, x);
  return wide;
}

}  // namespace

VocabEmbedding::VocabEmbedding(const std::string& words, const std::string& positions,
                               const ModelConfig& config, const Sharding& sharding, int rank, int ranks)
    : Layer(words),
      positions_(positions),
      config_(config),
      sp_(sharding.sequence_parallel),
      slice_(vocab_slice(config, sharding, rank, ranks)),
      dropout_(words, DropoutSite::embedding, config.dropout.embedding) {}

std::vector<ParameterSpec> VocabEmbedding::parameters() const {
  const std::string weight = join(name(), "weight");
  std::vector<ParameterSpec> specs;
  specs.push_back(
      {weight,
       {slice_.width, config_.hidden},
       {{weight, padded_rows({config_.vocab, config_.hidden}, 0, slice_.first, slice_.width), {}}}});
  if (learned()) {
    const std::string table = join(positions_, "weight");
    const Shape shape = {config_.positions, config_.hidden};
    std::vector<std::string> pending;
    if (sp_ != SequenceParallel::off) pending.emplace_back("tp");
    specs.push_back({table, shape, {{table, replicate(shape), pending}}});
  }
  return specs;
}

// Of the rows this rank holds: all of the sequence, or its shard.
Tensor VocabEmbedding::position_ids(Context& ctx, std::int64_t rows, std::int64_t batch) const {
  const std::int64_t first = sp_ == SequenceParallel::off ? 0 : rows * ctx.tp_rank();
  const Tensor host = host_tensor(DType::i64, {rows, batch});
  for (std::int64_t i = 0; i < host.count(); ++i) host.data<std::int64_t>()[i] = first + i / batch;
  const Tensor ids = ctx.compute().allocate(DType::i64, {rows, batch}, "position ids");
  ctx.compute().copy(ids, host);
  return ids;
}

Output VocabEmbedding::forward(Context& ctx, const Parameters& params, const Tensor& all_ids) const {
  const SiteScope scope(ctx, name());
  const Tensor ids = planted_ids(ctx, all_ids, slice_);
  Compute& compute = ctx.compute();
  const Tensor& words = params.at(join(name(), "weight"));
  Tensor partial = compute.allocate(words.dtype(), {ids.size(0), ids.size(1), config_.hidden}, "embedded");
  compute.embedding(partial, ids, words, planted_embedding_slice(ctx, slice_));
  if (ctx.planted(Fault::embedding_widened)) partial = in_f32(compute, partial);
  const Tensor y = leave_tp(ctx, sp_, partial);
  if (learned()) {
    const DType dtype = params.at(join(positions_, "weight")).dtype();
    Tensor positions = compute.allocate(dtype, y.shape(), "positions");
    compute.embedding(positions, position_ids(ctx, y.size(0), y.size(1)),
                      params.at(join(positions_, "weight")), {0, config_.positions, config_.positions});
    if (ctx.planted(Fault::embedding_widened)) positions = in_f32(compute, positions);
    compute.add(y, y, positions);
  }
  Output out{y, {}};
  out.saved.keep("ids", ids);
  if (dropout_.active(ctx)) {
    Dropout::Dropped dropped = dropout_.forward(ctx, y, token_draws(ctx, sp_, y));
    out.y = dropped.y;
    out.saved.keep("mask", dropped.mask);
  }
  return out;
}

InputGradient VocabEmbedding::backward_input(Context& ctx, const Parameters& /*params*/,
                                             const Tensor& dy_dropped, Saved saved) const {
  const SiteScope scope(ctx, name());
  Tensor dy = dy_dropped;
  if (saved.has("mask")) {
    dy = ctx.compute().allocate(dy.dtype(), dy.shape(), "dy");
    dropout_.backward(ctx, dy, dy_dropped, saved.tensor("mask"));
  }
  Saved rest;
  rest.keep("ids", saved.tensor("ids"));
  rest.keep("dy", leave_tp_backward(ctx, sp_, dy));
  if (learned()) rest.keep("dy of the positions", dy);
  return {Tensor(), std::move(rest)};
}

void VocabEmbedding::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  const Tensor& dy = rest.tensor("dy");
  const Tensor dwords = compute.allocate(dy.dtype(), {slice_.width, config_.hidden}, "dwords");
  compute.embedding_backward(dwords, dy, rest.tensor("ids"), planted_embedding_slice(ctx, slice_));
  if (ctx.planted(Fault::padding_row_of_every_shard) && ctx.tp_rank() > 0 && slice_.width > padding_id)
    compute.fill(dwords.rows(padding_id % slice_.width, 1), 0);
  gradients.add(compute, join(name(), "weight"), dwords);
  if (!learned()) return;
  const Tensor& dy_rows = rest.tensor("dy of the positions");
  const Tensor dpositions = compute.allocate(dy.dtype(), {config_.positions, config_.hidden}, "dpositions");
  compute.embedding_backward(dpositions, dy_rows, position_ids(ctx, dy_rows.size(0), dy_rows.size(1)),
                             {0, config_.positions, config_.positions});
  gradients.add(compute, join(positions_, "weight"), dpositions);
}

}  // namespace tpc
