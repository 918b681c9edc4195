// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tpc {

// Euclidean.
double norm(const std::vector<double>& values);
// Infinite where the lengths differ or a difference is no number.
double distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tpc
