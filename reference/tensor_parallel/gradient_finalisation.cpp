// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/gradient_finalisation.hpp"

#include <algorithm>

#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"
#include "reference/tensor_parallel/planted_parameters.hpp"

namespace tpc {

namespace {

std::vector<std::string> pending_groups(const std::vector<ParameterSpec>& specs) {
  std::vector<std::string> groups;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      for (const std::string& group : part.gradient_pending_over)
        if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  return groups;
}

std::vector<Tensor> pending_over(const std::string& group, const std::vector<ParameterSpec>& specs,
                                 const Gradients& gradients) {
  std::vector<Tensor> pending;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts) {
      const auto& groups = part.gradient_pending_over;
      if (std::find(groups.begin(), groups.end(), group) != groups.end())
        pending.push_back(part_of(gradients.at(spec.name), part));
    }
  return pending;
}

void sum_coalesced(Context& ctx, const std::string& group, const std::vector<Tensor>& tensors) {
  std::int64_t count = 0;
  for (const Tensor& t : tensors) count += t.count();
  const Tensor flat = ctx.compute().allocate(tensors.front().dtype(), {count}, "pending gradients");
  std::int64_t at = 0;
  for (const Tensor& t : tensors) {
    ctx.compute().copy(flat.rows(at, t.count()), t);
    at += t.count();
  }
  if (ctx.planted(Fault::finalised_in_bf16)) round_to_bf16(flat);
  ctx.site.operation = "finalise_gradients";
  ctx.group(group).all_reduce(flat, flat, ReduceOp::sum);
  at = 0;
  for (const Tensor& t : tensors) {
    ctx.compute().copy(t, flat.rows(at, t.count()));
    at += t.count();
  }
}

void sum_pending(Context& ctx, const std::vector<ParameterSpec>& specs, const Gradients& gradients) {
  std::vector<std::string> groups = pending_groups(specs);
  if (ctx.planted(Fault::group_order_differs_by_rank) && ctx.tp_rank() % 2 == 1)
    std::reverse(groups.begin(), groups.end());
  for (const std::string& group : groups)
    if (ctx.group(group).size() > 1) sum_coalesced(ctx, group, pending_over(group, specs, gradients));
}

}  // namespace

void finalise_gradients(Context& ctx, const std::vector<ParameterSpec>& specs, const Gradients& gradients) {
  const SiteScope phase(ctx, Phase::finalise);
  if (ctx.faults().empty()) return sum_pending(ctx, specs, gradients);
  sum_pending(ctx, planted_pending(ctx, specs), gradients);
  rescale_planted(ctx, specs, gradients);
}

}  // namespace tpc
