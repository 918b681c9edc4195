// SPDX-License-Identifier: Apache-2.0
#include "harness/baseline_store_account.hpp"

namespace tpc {

// The one place that asks for the answers of collective calls and meshes.
baseline::Solution collective_solution(const Problem& problem) {
  TPC_EXPECT(problem.kind == Problem::Kind::operation, "no answers are known for this kind of problem");
  return {};
}

}  // namespace tpc
