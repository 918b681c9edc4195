// SPDX-License-Identifier: Apache-2.0
#include "reference/model/stage.hpp"

#include <algorithm>

#include "reference/tensor_parallel/recompute.hpp"
#include "reference/tensor_parallel/vocab.hpp"

namespace tpc {

// What is kept for backward has the name of its layer; a tied head has that of the embedding.
Stage::Stage(std::vector<std::unique_ptr<Layer>> layers, std::unique_ptr<VocabCrossEntropy> loss)
    : loss_(std::move(loss)), loss_kept_as_(layers.empty() ? "" : "cross_entropy") {
  for (auto& layer : layers) {
    const bool tied = std::any_of(steps_.begin(), steps_.end(), [&](const Step& earlier) {
      return earlier.layer->name() == layer->name();
    });
    steps_.push_back({tied ? "head" : layer->name(), std::move(layer)});
  }
}

std::vector<ParameterSpec> Stage::parameters() const {
  std::vector<ParameterSpec> specs;
  for (const Step& step : steps_)
    for (ParameterSpec& spec : step.layer->parameters()) {
      const auto same = std::find_if(specs.begin(), specs.end(),
                                     [&](const ParameterSpec& known) { return known.name == spec.name; });
      if (same == specs.end())
        specs.push_back(std::move(spec));
      else
        same->uses += spec.uses;
    }
  return specs;
}

Stage::Result Stage::forward(Context& ctx, ParameterSource& params, const Tensor& x,
                             const Tensor& targets) const {
  const SiteScope phase(ctx, Phase::forward);
  Result result{.y = x};
  for (const Step& step : steps_) {
    const Acquired own(params, step.layer->name(), Direction::forward);
    Output out = step.layer->forward(ctx, *own, result.y);
    result.y = std::move(out.y);
    result.saved.keep(step.kept_as, std::move(out.saved));
  }
  if (!loss_) return result;
  VocabCrossEntropy::Loss loss = loss_->forward(ctx, result.y, targets);
  result.saved.keep(loss_kept_as_, std::move(loss.saved));
  result.y = std::move(loss.mean);
  result.tokens = std::move(loss.tokens);
  return result;
}

Tensor Stage::backward(Context& ctx, ParameterSource& params, const Tensor& dy, Saved saved,
                       Gradients& gradients) const {
  const SiteScope phase(ctx, Phase::backward);
  Tensor dx = loss_ ? loss_->backward(ctx, dy, saved.take(loss_kept_as_)) : dy;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const Acquired own(params, step->layer->name(), Direction::backward);
    dx = step->layer->backward(ctx, *own, dx, saved.take(step->kept_as), gradients);
  }
  return dx;
}

InputGradient Stage::backward_input(Context& ctx, ParameterSource& params, const Tensor& dy,
                                    Saved saved) const {
  const SiteScope phase(ctx, Phase::backward);
  InputGradient result;
  result.dx = loss_ ? loss_->backward(ctx, dy, saved.take(loss_kept_as_)) : dy;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const Acquired own(params, step->layer->name(), Direction::backward);
    InputGradient of_layer = step->layer->backward_input(ctx, *own, result.dx, saved.take(step->kept_as));
    result.dx = std::move(of_layer.dx);
    result.rest.keep(step->kept_as, std::move(of_layer.rest));
  }
  return result;
}

void Stage::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope phase(ctx, Phase::backward);
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    step->layer->backward_weight(ctx, rest.take(step->kept_as), gradients);
}

Stage make_stage(const LayerPlan& plan, const StageRange& range) {
  const Parts& parts = plan.parts;
  const SequenceParallel sp = plan.sharding.sequence_parallel;
  std::vector<std::unique_ptr<Layer>> layers;
  if (range.embedding) layers.push_back(parts.vocab_embedding("embedding", "positions", plan));
  for (std::int64_t i = range.first; i < range.end; ++i)
    layers.push_back(block_of("blocks." + std::to_string(i), plan));
  if (!range.head) return Stage(std::move(layers));
  layers.push_back(std::make_unique<Norm>("final_norm", plan.config, sp));
  const VocabSlice slice = vocab_slice(plan.config, plan.sharding, plan.at.tp());
  layers.push_back(parts.column_linear(vocab_part(plan.config.tied_head ? "embedding" : "head", slice),
                                       {.in_features = plan.config.hidden, .sequence_parallel = sp},
                                       ColumnLinear::Result::sharded));
  return Stage(std::move(layers), parts.vocab_cross_entropy(plan.config.loss, slice, plan.at));
}

Stage transformer(const LayerPlan& plan) {
  return make_stage(plan, {.end = plan.config.layers, .embedding = true, .head = true});
}

}  // namespace tpc
