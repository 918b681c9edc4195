// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/vocab_cross_entropy.hpp"

#include "reference/faults/fault.hpp"
#include "reference/tensor_parallel/local_linear.hpp"
#include "reference/tensor_parallel/planted_loss.hpp"

namespace tpc {

namespace {

void reduce_over_vocab(Context& ctx, const char* what, const Tensor& x, ReduceOp op) {
  if (ctx.tp_size() == 1) return;
  ctx.site.operation = what;
  ctx.group("tp").all_reduce(x, x, op);
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

  const VocabSlice slice = planted_loss_slice(ctx, slice_);
  const Tensor max = per_row("max");
  compute.cross_entropy_max(max, flat, slice);
  reduce_over_vocab(ctx, "max", max, ReduceOp::max);
  const Tensor sum_exp = per_row("sum_exp");
  const Tensor target_logit = per_row("target_logit");
  const Tensor sum_logit = per_row("sum_logit");
  compute.cross_entropy_sums(sum_exp, target_logit, sum_logit, flat, max, flat_targets, slice);
  const LossRows of_loss{flat, flat_targets, max, sum_exp, target_logit, sum_logit};
  plant_in_terms(ctx, of_loss, slice);
  reduce_over_vocab(ctx, "sum_exp", sum_exp, ReduceOp::sum);
  reduce_over_vocab(ctx, "target_logit", target_logit, ReduceOp::sum);
  if (definition_.label_smoothing != 0) reduce_over_vocab(ctx, "sum_logit", sum_logit, ReduceOp::sum);

  Loss loss{compute.allocate(max.dtype(), {1}, "loss"),
            compute.allocate(max.dtype(), targets.shape(), "token loss"),
            {}};
  compute.cross_entropy_loss(loss.tokens.reshaped({rows}), max, sum_exp, target_logit, sum_logit,
                             flat_targets, definition_, slice_.valid);
  plant_in_losses(ctx, loss.tokens.reshaped({rows}), of_loss, definition_, slice);
  const Tensor weights = per_row("weights");
  compute.loss_weights(weights, flat_targets, definition_);
  compute.dot(loss.mean, loss.tokens.reshaped({rows}), weights);
  loss.saved.keep("logits", logits);
  loss.saved.keep("targets", targets);
  loss.saved.keep("max", max);
  loss.saved.keep("sum_exp", sum_exp);
  loss.saved.keep("weights", weights);
  return loss;
}

Tensor VocabCrossEntropy::backward(Context& ctx, const Tensor& dloss, const Saved& saved) const {
  Compute& compute = ctx.compute();
  const Tensor& logits = saved.tensor("logits");
  const Tensor& weights = saved.tensor("weights");
  const std::int64_t rows = weights.count();
  const Tensor targets = saved.tensor("targets").reshaped({rows});
  const Tensor seeds = compute.allocate(weights.dtype(), {rows}, "seeds");
  compute.gemm(seeds.reshaped({rows, 1}), weights.reshaped({rows, 1}), Transpose::no, dloss.reshaped({1, 1}),
               Transpose::no);
  const VocabSlice slice = planted_loss_slice(ctx, slice_);
  const LossRows of_loss{.logits = logits.reshaped({rows, slice_.width}),
                         .targets = targets,
                         .max = saved.tensor("max"),
                         .sum_exp = saved.tensor("sum_exp"),
                         .seeds = seeds};
  plant_in_seeds(ctx, of_loss, slice);
  Tensor dlogits = compute.allocate(logits.dtype(), logits.shape(), "dlogits");
  compute.cross_entropy_backward(dlogits.reshaped({rows, slice_.width}), of_loss.logits, of_loss.max,
                                 of_loss.sum_exp, targets, seeds, definition_, slice);
  plant_in_gradient(ctx, dlogits, of_loss, definition_, slice);
  return dlogits;
}

}  // namespace tpc
