// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/parameters/gradients.hpp"
#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// Completes the gradients that are still one term of a sum when backward ends: the one place that knows, from
// each parameter's specification, over which groups. Under sequence parallelism these are norm gains and
// biases, row biases and learned positions (over tp); with fewer kv heads than ranks, the k and v projections
// (over their copies). All gradients pending over a group are summed in one all_reduce, in the order of the
// specifications. Afterwards no sum is due.
void finalise_gradients(Context& ctx, Gradients& gradients);

// Its steps: the ranks of a group, and the sum over them of what the specifications say is pending there.
Communicator& group_of(Context& ctx, const PendingGroup& group);
void sum_pending(Context& ctx, const PendingGroup& group, const std::vector<ParameterSpec>& specs,
                 const Gradients& gradients);

}  // namespace tpc
