// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/vocab_cross_entropy.hpp"

#include "reference/tensor_parallel/local_linear.hpp"

namespace tpc {

namespace {

void reduce_over_vocab(Context& ctx, const char* what, const Tensor& x, ReduceOp op) {
  if (ctx.tp().size == 1) return;
  ctx.site.operation = what;
  ctx.group(Axis::tp).all_reduce(x, x, op);
}

}  // namespace

VocabCrossEntropy::VocabCrossEntropy(const LossDefinition& definition, const VocabSlice& slice)
    : definition_(definition), slice_(slice) {}

VocabCrossEntropy::Loss VocabCrossEntropy::forward(Context& ctx, const Tensor& logits,
                                                   const Tensor& targets) const {
  const SiteScope scope(ctx, "cross_entropy");
  Compute& compute = ctx.compute();
  const std::int64_t rows = targets.count();
  const auto per_row = [&](const char* what) {
    return compute.allocate(statistics_dtype(logits.dtype()), {rows}, what);
  };
  const Tensor flat = logits.reshaped({rows, slice_.width});
  const Tensor flat_targets = targets.reshaped({rows});

  const Rows of_loss{.logits = flat,
                     .targets = flat_targets,
                     .max = per_row("max"),
                     .sum_exp = per_row("sum_exp"),
                     .target_logit = per_row("target_logit"),
                     .sum_logit = per_row("sum_logit")};
  compute.cross_entropy_max(of_loss.max, flat, slice_);
  reduce_over_vocab(ctx, "max", of_loss.max, ReduceOp::max);
  make_terms(ctx, of_loss);
  reduce_over_vocab(ctx, "sum_exp", of_loss.sum_exp, ReduceOp::sum);
  reduce_over_vocab(ctx, "target_logit", of_loss.target_logit, ReduceOp::sum);
  if (definition_.label_smoothing != 0) reduce_over_vocab(ctx, "sum_logit", of_loss.sum_logit, ReduceOp::sum);

  const DType dtype = of_loss.max.dtype();
  Loss loss{compute.allocate(dtype, {1}, "loss"), compute.allocate(dtype, targets.shape(), "token loss"), {}};
  make_losses(ctx, loss.tokens.reshaped({rows}), of_loss);
  const Tensor weights = per_row("weights");
  compute.loss_weights(weights, flat_targets, definition_);
  compute.dot(loss.mean, loss.tokens.reshaped({rows}), weights);
  loss.saved.keep("logits", logits);
  loss.saved.keep("targets", targets);
  loss.saved.keep("max", of_loss.max);
  loss.saved.keep("sum_exp", of_loss.sum_exp);
  loss.saved.keep("weights", weights);
  return loss;
}

Tensor VocabCrossEntropy::backward(Context& ctx, const Tensor& dloss, const Saved& saved) const {
  Compute& compute = ctx.compute();
  const Tensor& logits = saved.tensor("logits");
  const Tensor& weights = saved.tensor("weights");
  const std::int64_t rows = weights.count();
  const Rows of_loss{.logits = logits.reshaped({rows, slice_.width}),
                     .targets = saved.tensor("targets").reshaped({rows}),
                     .max = saved.tensor("max"),
                     .sum_exp = saved.tensor("sum_exp"),
                     .seeds = compute.allocate(weights.dtype(), {rows}, "seeds")};
  make_seeds(ctx, of_loss, weights, dloss);
  Tensor dlogits = compute.allocate(logits.dtype(), logits.shape(), "dlogits");
  make_gradient(ctx, dlogits.reshaped({rows, slice_.width}), of_loss);
  return dlogits;
}

void VocabCrossEntropy::make_terms(Context& ctx, const Rows& rows) const {
  ctx.compute().cross_entropy_sums(rows.sum_exp, rows.target_logit, rows.sum_logit, rows.logits, rows.max,
                                   rows.targets, slice_);
}

void VocabCrossEntropy::make_losses(Context& ctx, const Tensor& losses, const Rows& rows) const {
  ctx.compute().cross_entropy_loss(losses, rows.max, rows.sum_exp, rows.target_logit, rows.sum_logit,
                                   rows.targets, definition_, slice_.valid);
}

void VocabCrossEntropy::make_seeds(Context& ctx, const Rows& rows, const Tensor& weights,
                                   const Tensor& dloss) const {
  const std::int64_t tokens = weights.count();
  ctx.compute().gemm(rows.seeds.reshaped({tokens, 1}), weights.reshaped({tokens, 1}), Transpose::no,
                     dloss.reshaped({1, 1}), Transpose::no);
}

void VocabCrossEntropy::make_gradient(Context& ctx, const Tensor& dlogits, const Rows& rows) const {
  ctx.compute().cross_entropy_backward(dlogits, rows.logits, rows.max, rows.sum_exp, rows.targets, rows.seeds,
                                       definition_, slice_);
}

}  // namespace tpc
