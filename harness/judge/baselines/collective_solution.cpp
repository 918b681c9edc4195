// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/collective_answers.hpp"
#include "harness/judge/baselines/exact_account.hpp"
#include "harness/judge/baselines/mesh_answers.hpp"

namespace tpc {

// The one place that asks for the answers of collective calls and meshes.
baseline::Solution collective_solution(const Problem& problem) {
  return problem.mesh() != nullptr ? mesh_answers(*problem.mesh()) : collective_answers(problem);
}

}  // namespace tpc
