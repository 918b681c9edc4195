// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/tensor_parallel/context.hpp"
#include "reference/tensor_parallel/parameters.hpp"

namespace tpc {

// Completes the gradients that are still one term of a sum when backward ends: the one place that knows, from
// each parameter's specification, over which groups. Under sequence parallelism these are norm gains and
// biases, row biases and learned positions (over tp); with fewer kv heads than ranks, the k and v projections
// (over their copies). All gradients pending over a group are summed in one all_reduce, in the order of the
// specifications.
void finalise_gradients(Context& ctx, const std::vector<ParameterSpec>& specs, const Gradients& gradients);

// Its steps: the groups in the order in which specifications first name them, and the sum over one of them.
struct PendingGroup {
  Axis axis = Axis::tp;
  int copies = 1;  // of kv_copies
  bool operator==(const PendingGroup&) const = default;
};
std::vector<PendingGroup> pending_groups(const std::vector<ParameterSpec>& specs);
Communicator& group_of(Context& ctx, const PendingGroup& group);
void sum_pending(Context& ctx, const PendingGroup& group, const std::vector<ParameterSpec>& specs,
                 const Gradients& gradients);

}  // namespace tpc
