// SPDX-License-Identifier: Apache-2.0
// One problem, solved by one rank.
#pragma once

#include <string>

#include "harness/judge/baselines/answer_file.hpp"

namespace tpc {

// What the cases of a problem ask of its answers.
struct BaselineNeeds {
  bool account = false;            // exact tier: sums of magnitudes against the format's limit
  const Case* rounding = nullptr;  // f32 and bf16 tiers: one of the cases, for e_1 and e_p
};

struct SolvedProblem {
  OwnedTensors answers;
  std::string defect;        // why no case of the problem can be judged
  std::string exact_defect;  // why none in the exact tier can
};

// Never throws: whatever goes wrong is the defect.
SolvedProblem solve_problem(const Problem& problem, const BaselineNeeds& needs,
                            Implementation& implementation);

// With the masks that an implementation drew, whole tensors by their names.
using DrawnMasks = std::map<std::string, std::vector<double>>;
OwnedTensors solve_with_masks(const Problem& problem, const DrawnMasks& masks);

}  // namespace tpc
