// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tpc::bench {

double quantile(std::span<const double> values, double q);  // between neighbours by a straight line
double median(std::span<const double> values);

// Where the start-up of a series ends: the cut, in its first half, that leaves the mean of the rest best
// known (the marginal standard error rule: White, "An effective truncation heuristic for bias reduction in
// simulation output", 1997).
std::size_t steady_from(std::span<const double> series);

struct Summary {
  std::size_t steady_from = 0;
  double median = 0;  // of the steady window, as the quantiles
  double p5 = 0;
  double p95 = 0;
};
Summary summary_of(std::span<const double> series);

// How far medians of rounds of one and the same thing lie apart, relative to their median: what this machine
// calls equal.
double same_same_band(const std::vector<std::vector<double>>& rounds);

// Probability that `later` would rank as far above `earlier` as it does, or farther, if both came from one
// distribution (Mann and Whitney, 1947; normal approximation with ties). Small: later is larger.
double probability_not_larger(std::span<const double> earlier, std::span<const double> later);

}  // namespace tpc::bench
