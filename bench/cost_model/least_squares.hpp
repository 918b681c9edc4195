// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tpc::bench {

// Finds c >= 0 with sum over i of ((sum over j of c_j·terms[i][j]) / times[i] - 1)² as small as can be:
// relative errors count, so that microseconds weigh as much as seconds. Few terms only (every subset of them
// is tried). A cost that came out negative would be an artefact, and a model with it goes wrong outside of
// its range.
std::vector<double> fit_relative(const std::vector<std::vector<double>>& terms,
                                 const std::vector<double>& times);

struct RelativeErrors {
  double mean = 0;
  double max = 0;
};
RelativeErrors relative_errors(const std::vector<double>& predicted, const std::vector<double>& measured);

}  // namespace tpc::bench
