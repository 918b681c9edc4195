// SPDX-License-Identifier: Apache-2.0
#include "reference/model/transformer.hpp"

#include "reference/tensor_parallel/recompute.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

Transformer::Transformer(const LayerPlan& plan)
    : tied_(plan.config.tied_head),
      embedding_(plan.parts.vocab_embedding("embedding", "positions", plan)),
      final_norm_("final_norm", plan.config, plan.sharding.sequence_parallel) {
  const VocabSlice slice = vocab_slice(plan.config, plan.sharding, plan.at.tp());
  head_ = plan.parts.column_linear(
      vocab_part(tied_ ? "embedding" : "head", slice),
      {.in_features = plan.config.hidden, .sequence_parallel = plan.sharding.sequence_parallel},
      ColumnLinear::Result::sharded);
  cross_entropy_ = plan.parts.vocab_cross_entropy(plan.config.loss, slice, plan.at);
  for (std::int64_t i = 0; i < plan.config.layers; ++i)
    blocks_.push_back(block_of("blocks." + std::to_string(i), plan));
}

std::vector<ParameterSpec> Transformer::parameters() const {
  std::vector<ParameterSpec> specs = embedding_->parameters();
  const auto append = [&](const Layer& layer) {
    for (ParameterSpec& spec : layer.parameters()) specs.push_back(std::move(spec));
  };
  for (const auto& block : blocks_) append(*block);
  append(final_norm_);
  if (!tied_) append(*head_);
  return specs;
}

Transformer::Loss Transformer::forward(Context& ctx, const Parameters& params, const Tensor& ids,
                                       const Tensor& targets) const {
  const SiteScope phase(ctx, Phase::forward);
  Saved saved;
  Output out = embedding_->forward(ctx, params, ids);
  saved.keep("embedding", std::move(out.saved));
  for (const auto& block : blocks_) {
    out = block->forward(ctx, params, out.y);
    saved.keep(block->name(), std::move(out.saved));
  }
  out = final_norm_.forward(ctx, params, out.y);
  saved.keep("final_norm", std::move(out.saved));
  out = head_->forward(ctx, params, out.y);
  saved.keep("head", std::move(out.saved));
  VocabCrossEntropy::Loss loss = cross_entropy_->forward(ctx, out.y, targets);
  saved.keep("cross_entropy", std::move(loss.saved));
  return {std::move(loss.mean), std::move(loss.tokens), std::move(saved)};
}

void Transformer::backward(Context& ctx, const Parameters& params, const Tensor& dloss, Saved saved,
                           Gradients& gradients) const {
  const SiteScope phase(ctx, Phase::backward);
  Tensor dy = cross_entropy_->backward(ctx, dloss, saved.take("cross_entropy"));
  dy = head_->backward(ctx, params, dy, saved.take("head"), gradients);
  dy = final_norm_.backward(ctx, params, dy, saved.take("final_norm"), gradients);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
    dy = (*block)->backward(ctx, params, dy, saved.take((*block)->name()), gradients);
  embedding_->backward(ctx, params, dy, saved.take("embedding"), gradients);
}

}  // namespace tpc
