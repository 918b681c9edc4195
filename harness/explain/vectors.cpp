// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/vectors.hpp"

#include <cmath>
#include <limits>

namespace tpc {

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::isnan(squares) ? std::numeric_limits<double>::infinity() : std::sqrt(squares);
}

}  // namespace tpc
