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

// Mean of what lies from the 5th to the 95th percentile: times that follow each other add up by their means,
// where a median leaves out what comes now and then.
double trimmed_mean(std::span<const double> values);

// How far medians of one and the same thing lie apart, relative to their median; 0 of fewer than two.
double spread(std::span<const double> medians);

// Probability that all of so many later values lie above all of the earlier ones, if none differed but by
// chance.
double chance_of_separation(std::size_t earlier, std::size_t later);

}  // namespace tpc::bench
