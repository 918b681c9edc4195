// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/vocab_embedding.hpp"

#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/parts.hpp"
#include "reference/tensor_parallel/regions.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

VocabEmbedding::VocabEmbedding(const std::string& words, const std::string& positions, const LayerPlan& plan)
    : Layer(words),
      positions_(positions),
      config_(plan.config),
      sp_(plan.sharding.sequence_parallel),
      slice_(vocab_slice(plan.config, plan.sharding, plan.at.tp())),
      dropout_(plan.parts.dropout(words, DropoutSite::embedding, plan.config.dropout.embedding)) {}

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
    std::vector<Axis> pending;
    if (sp_ != SequenceParallel::off) pending.push_back(Axis::tp);
    specs.push_back({table, shape, {{table, replicate(shape), pending}}});
  }
  return specs;
}

// Of the rows this rank holds: all of the sequence, or its shard.
Tensor VocabEmbedding::position_ids(Context& ctx, std::int64_t rows, std::int64_t batch) const {
  const std::int64_t first = sp_ == SequenceParallel::off ? 0 : rows * ctx.tp().rank;
  const Tensor host = host_tensor(DType::i64, {rows, batch});
  for (std::int64_t i = 0; i < host.count(); ++i) host.data<std::int64_t>()[i] = first + i / batch;
  const Tensor ids = ctx.compute().allocate(DType::i64, {rows, batch}, "position ids");
  ctx.compute().copy(ids, host);
  return ids;
}

Tensor VocabEmbedding::ids_to_look_up(Context& /*ctx*/, const Tensor& ids) const { return ids; }

Tensor VocabEmbedding::look_up(Context& ctx, const Tensor& ids, const Tensor& table,
                               const VocabSlice& slice) const {
  Tensor rows = ctx.compute().allocate(table.dtype(), {ids.size(0), ids.size(1), config_.hidden}, "embedded");
  ctx.compute().embedding(rows, ids, table, slice);
  return rows;
}

Output VocabEmbedding::forward(Context& ctx, const Parameters& params, const Tensor& all_ids) const {
  const SiteScope scope(ctx, name());
  const Tensor ids = ids_to_look_up(ctx, all_ids);
  const Tensor y = leave_tp(ctx, sp_, look_up(ctx, ids, params.at(join(name(), "weight")), slice_));
  if (learned()) {
    const VocabSlice all{0, config_.positions, config_.positions};
    const Tensor own = position_ids(ctx, y.size(0), y.size(1));
    ctx.compute().add(y, y, look_up(ctx, own, params.at(join(positions_, "weight")), all));
  }
  Output out{y, {}};
  out.saved.keep("ids", ids);
  if (dropout_->active(ctx)) {
    Dropout::Dropped dropped = dropout_->forward(ctx, y, token_draws(ctx, sp_, y));
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
    dropout_->backward(ctx, dy, dy_dropped, saved.tensor("mask"));
  }
  Saved rest;
  rest.keep("ids", saved.tensor("ids"));
  rest.keep("dy", leave_backward(ctx, dy));
  if (learned()) rest.keep("dy of the positions", dy);
  return {Tensor(), std::move(rest)};
}

void VocabEmbedding::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  Compute& compute = ctx.compute();
  const Tensor& dy = rest.tensor("dy");
  gradients.add(compute, join(name(), "weight"), word_gradient(ctx, dy, rest.tensor("ids")));
  if (!learned()) return;
  const Tensor& dy_rows = rest.tensor("dy of the positions");
  const Tensor dpositions = compute.allocate(dy.dtype(), {config_.positions, config_.hidden}, "dpositions");
  compute.embedding_backward(dpositions, dy_rows, position_ids(ctx, dy_rows.size(0), dy_rows.size(1)),
                             {0, config_.positions, config_.positions});
  gradients.add(compute, join(positions_, "weight"), dpositions);
}

Tensor VocabEmbedding::word_gradient(Context& ctx, const Tensor& dy, const Tensor& ids) const {
  Tensor dwords = ctx.compute().allocate(dy.dtype(), {slice_.width, config_.hidden}, "dwords");
  ctx.compute().embedding_backward(dwords, dy, ids, slice_);
  return dwords;
}

Tensor VocabEmbedding::leave_backward(Context& ctx, const Tensor& dy) const {
  return leave_tp_backward(ctx, sp_, dy);
}

}  // namespace tpc
