// SPDX-License-Identifier: Apache-2.0
// Problems as the baseline takes them.
#pragma once

#include "harness/values/request.hpp"
#include "reference/baseline/train.hpp"

namespace tpc {

// Of a single operation, with the masks of the profile `invariant`.
baseline::Inputs baseline_inputs(const Problem& problem);

baseline::Training training_of(const TrainProblem& problem);
baseline::Inputs parameters_of(const Problem& problem);
// ids, targets and dloss of a step, with the masks of the profile `invariant`.
baseline::Inputs batch_of(const Problem& problem, std::int64_t step);

// With another training than the problem's, perhaps.
baseline::Solution solve_training(const Problem& problem, const baseline::Training& training);

}  // namespace tpc
