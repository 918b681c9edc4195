// SPDX-License-Identifier: Apache-2.0
// How a norm of the gradients was put together from what the ranks hold of them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc {

// The sums of |g|^p, or the largest |g| where p is infinite.
struct NormParts {
  double p = 2;
  std::vector<double> sharded;              // by rank: of the parameters that it holds a part of
  double replicated = 0;                    // of those that every rank holds whole
  std::map<std::string, double> by_tensor;  // each element once
};

// What explains the norms that the ranks answer for one step, where they are wrong.
std::optional<std::string> norm_finding(const NormParts& parts, const std::vector<double>& by_rank);

// The same for the first step of a training with masks that the baseline can draw: which parameters are
// replicated is the answer's choice. Collective.
std::optional<std::string> norm_finding(const Request& request, const std::vector<LocalTensor>& answer,
                                        Communicator& ranks);

}  // namespace tpc
