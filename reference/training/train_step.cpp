// SPDX-License-Identifier: Apache-2.0
#include "reference/training/train_step.hpp"

#include "reference/optimizer/clipping.hpp"
#include "reference/optimizer/gradient_norm.hpp"

namespace tpc {

namespace {

Tensor share_of(Context& ctx, const Tensor& dloss, double share) {
  if (share == 1) return dloss;
  const Tensor own = ctx.compute().allocate(dloss.dtype(), dloss.shape(), "dloss");
  ctx.compute().scale(own, dloss, share);
  return own;
}

std::int64_t counted_tokens(const Tensor& targets, const LossDefinition& definition) {
  if (definition.mean_over == LossMean::all_tokens) return targets.count();
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < targets.count(); ++i)
    counted += targets.data<std::int64_t>()[i] != definition.ignore_index;
  return counted;
}

}  // namespace

std::vector<double> loss_shares(const std::vector<Tensor>& targets, const LossDefinition& definition) {
  std::vector<double> shares;
  double all = 0;
  for (const Tensor& own : targets) {
    shares.push_back(static_cast<double>(counted_tokens(own, definition)));
    all += shares.back();
  }
  for (double& share : shares) share = all > 0 ? share / all : 0;
  return shares;
}

std::vector<Stage::Result> accumulate(Context& ctx, const Stage& model, ParameterSource& params,
                                      const std::vector<Microbatch>& microbatches, const Tensor& dloss,
                                      Gradients& gradients) {
  std::vector<Stage::Result> losses;
  for (const Microbatch& batch : microbatches) {
    ctx.site.microbatch = static_cast<int>(&batch - microbatches.data());
    Stage::Result& loss = losses.emplace_back(model.forward(ctx, params, batch.ids, batch.targets));
    model.backward(ctx, params, share_of(ctx, dloss, batch.share), std::move(loss.saved), gradients);
  }
  ctx.site.microbatch = 0;
  return losses;
}

StepResult train_step(Context& ctx, const Stage& model, HeldParameters& params, Optimizer& optimizer,
                      const std::vector<Microbatch>& microbatches, const Tensor& dloss,
                      const TrainOptions& options) {
  Gradients gradients(model.parameters(),
                      {.sums = options.gradient_sums, .microbatches = static_cast<int>(microbatches.size())});
  StepResult result;
  result.losses = accumulate(ctx, model, params, microbatches, dloss, gradients);
  ctx.parts().finish_step(ctx, gradients);
  result.gradient_norm = gradient_norm(ctx, gradients, options.norm);
  if (options.max_norm > 0) clip_gradients(ctx.compute(), gradients, result.gradient_norm, options.max_norm);
  optimizer.step(ctx.compute(), params.all(), gradients);
  return result;
}

}  // namespace tpc
