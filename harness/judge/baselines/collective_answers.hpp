// SPDX-License-Identifier: Apache-2.0
// What a collective call must return: plain loops in f64 over the inputs of all ranks, for what
// CollectiveProblem in request.hpp says.
#pragma once

#include "harness/values/request.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {

baseline::Solution collective_answers(const Problem& problem);

// Whether all ranks of the group end with equal tensors.
bool result_is_replicated(CollectiveKind kind);

// Shape of input "in" and output "out" for a group of `ranks`.
Shape collective_input_shape(const CollectiveProblem& call, int ranks);
Shape collective_output_shape(const CollectiveProblem& call, int ranks);

}  // namespace tpc
