// SPDX-License-Identifier: Apache-2.0
// Judges of answers that depend on what the implementation drew. All collective over the mesh, with the same
// verdict on every rank.
#pragma once

#include <vector>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

// Whether the baseline of the problem can be found only when the answers are there, if there is any.
bool is_solved_when_judged(const Problem& problem);

// An operation with dropout on: the masks that were handed out are related as the profile has it, and
// everything else is what the baseline computes with them. `prepared`: the baseline where it was known
// before, with its masks.
Comparison judge_with_masks(const Case& c, const std::vector<LocalTensor>& got,
                            const ExpectedTensors& prepared, Communicator& ranks);

// Operation dropout. Of ones, each site answers (names as in masks.hpp, prefixed)
//   forward.   mask/(1-p) of step 0           next.      the same of step 1
//   backward.  its backward of ones           resumed.   step 1 once more, from a checkpoint taken before it
//   recomputed.  forward again, as for recomputation
// and, where the implementation has named streams, "streams.seed" and "streams.position" [ranks, streams] of
// the profile after step 1.
Comparison judge_dropout(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks);

// Operation init under any profile but `invariant`, whose values are known.
Comparison judge_init(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks);

}  // namespace tpc
