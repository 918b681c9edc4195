// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/gradient_finalisation.hpp"

#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

namespace {

std::vector<Tensor> tensors_pending_over(const PendingGroup& group, const std::vector<ParameterSpec>& specs,
                                         const Gradients& gradients) {
  std::vector<Tensor> pending;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      if (is_pending_over(part, group)) pending.push_back(part_of(gradients.at(spec.name), part));
  return pending;
}

}  // namespace

Communicator& group_of(Context& ctx, const PendingGroup& group) {
  return group.axis == Axis::kv_copies ? ctx.kv_copies(group.copies) : ctx.group(group.axis);
}

void sum_pending(Context& ctx, const PendingGroup& group, const std::vector<ParameterSpec>& specs,
                 const Gradients& gradients) {
  Communicator& ranks = group_of(ctx, group);
  if (ranks.size() == 1) return;
  const std::vector<Tensor> tensors = tensors_pending_over(group, specs, gradients);
  std::int64_t count = 0;
  for (const Tensor& t : tensors) count += t.count();
  const Tensor flat = ctx.compute().allocate(tensors.front().dtype(), {count}, "pending gradients");
  std::int64_t at = 0;
  for (const Tensor& t : tensors) {
    ctx.compute().copy(flat.rows(at, t.count()), t);
    at += t.count();
  }
  ctx.site.operation = "finalise_gradients";
  ranks.all_reduce(flat, flat, ReduceOp::sum);
  at = 0;
  for (const Tensor& t : tensors) {
    ctx.compute().copy(t, flat.rows(at, t.count()));
    at += t.count();
  }
}

void finalise_gradients(Context& ctx, Gradients& gradients) {
  const SiteScope phase(ctx, Phase::finalise);
  ctx.parts().finalise(ctx, gradients);
  gradients.settle_all();
}

}  // namespace tpc
