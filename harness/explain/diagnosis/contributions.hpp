// SPDX-License-Identifier: Apache-2.0
// What each rank adds to the sums over ranks of an operation: the baseline with all else left out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/explain/diagnosis/fingerprints.hpp"
#include "harness/values/request.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {

struct SumOverRanks {
  std::string meaning;                                         // of a term
  std::function<bool(const std::string& tensor)> is_sum;       // which answers are such a sum
  std::function<void(baseline::Inputs&, int rank)> keep_only;  // the inputs of one rank's term
};
// Of single layers; a block or a model is looked into layer by layer.
std::vector<SumOverRanks> sums_of(const Request& request);

// Collective, each rank solves for its own term: the sums that the tensor is, with their terms.
std::vector<Contributions> contributions_to(const TensorEvidence& tensor, const Request& request,
                                            Communicator& ranks);

}  // namespace tpc
