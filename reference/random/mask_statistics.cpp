// SPDX-License-Identifier: Apache-2.0
#include "reference/random/mask_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "reference/core/contract.hpp"
#include "reference/random/fourier.hpp"

namespace tpc {

namespace {

void expect_comparable(Mask a, Mask b, double p) {
  TPC_EXPECT(a.size() == b.size() && !a.empty(), "masks of {} and {} elements", a.size(), b.size());
  TPC_EXPECT(p > 0 && p < 1, "drop rate {}", p);
}

Deviation binomial(std::int64_t hits, std::size_t tests, double expected) {
  const auto n = static_cast<double>(tests);
  const double measured = static_cast<double>(hits) / n;
  return {measured, expected, (measured - expected) / std::sqrt(expected * (1 - expected) / n)};
}

std::vector<int> drops_per_position(const std::vector<Mask>& masks, double p) {
  TPC_EXPECT(!masks.empty(), "no masks");
  std::vector<int> drops(masks.front().size());
  for (const Mask& mask : masks) {
    expect_comparable(mask, masks.front(), p);
    for (std::size_t i = 0; i < mask.size(); ++i) drops[i] += mask[i] == 0 ? 1 : 0;
  }
  return drops;
}

std::vector<double> standardised(Mask mask) {
  double kept = 0;
  for (const std::uint8_t one : mask) kept += one;
  const double rate = kept / static_cast<double>(mask.size());
  const double scale = rate > 0 && rate < 1 ? 1 / std::sqrt(rate * (1 - rate)) : 0;
  std::vector<double> values;
  values.reserve(mask.size());
  for (const std::uint8_t one : mask) values.push_back((one - rate) * scale);
  return values;
}

// Chernoff's bound on the logarithm of P(at least `hits` of `tests`, each with probability q), which holds
// for draws without replacement too (Hoeffding 1963).
double log_tail(double hits, double tests, double q) {
  const double share = hits / tests;
  if (share <= q) return 0;
  if (q <= 0) return -INFINITY;
  double divergence = share * std::log(share / q);
  if (share < 1) divergence += (1 - share) * std::log((1 - share) / (1 - q));
  return -tests * divergence;
}

struct Overlap {
  double positions = 0;
  double a = 0;  // dropped by a, by b, by both
  double b = 0;
  double both = 0;
};

Overlap drops_at(Mask a, Mask b, std::int64_t lag) {
  Overlap overlap;
  const auto n = static_cast<std::int64_t>(a.size());
  for (std::int64_t i = std::max<std::int64_t>(0, -lag); i < std::min(n, n - lag); ++i) {
    const bool in_a = a[static_cast<std::size_t>(i)] == 0;
    const bool in_b = b[static_cast<std::size_t>(i + lag)] == 0;
    overlap.positions += 1;
    overlap.a += in_a ? 1 : 0;
    overlap.b += in_b ? 1 : 0;
    overlap.both += in_a && in_b ? 1 : 0;
  }
  return overlap;
}

// Of the agreement that makes the peak; a peak of disagreement has as many drops of one where the other
// keeps.
double log_chance(const Overlap& o, bool agreeing) {
  if (o.positions == 0) return 0;
  const double b = agreeing ? o.b : o.positions - o.b;
  const double hits = agreeing ? o.both : o.a - o.both;
  const double given_a = o.a > 0 ? log_tail(hits, o.a, b / o.positions) : 0;
  const double given_b = b > 0 ? log_tail(hits, b, o.a / o.positions) : 0;
  return std::min(given_a, given_b);
}

}  // namespace

Deviation keep_rate(Mask mask, double p) {
  expect_comparable(mask, mask, p);
  return binomial(std::count(mask.begin(), mask.end(), 1), mask.size(), 1 - p);
}

Deviation agreement(Mask a, Mask b, double p) {
  expect_comparable(a, b, p);
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return binomial(equal, a.size(), p * p + (1 - p) * (1 - p));
}

Deviation dispersion(const std::vector<Mask>& masks, double p) {
  const std::vector<int> drops = drops_per_position(masks, p);
  const auto ranks = static_cast<double>(masks.size());
  const double variance = ranks * p * (1 - p);
  double sum = 0;
  for (const int count : drops) sum += (count - ranks * p) * (count - ranks * p);
  const double n = static_cast<double>(drops.size());
  const double measured = sum / (n * variance);
  // The fourth central moment of the binomial distribution over the squared variance, less 1.
  const double spread = 2 + (1 - 6 * p * (1 - p)) / variance;
  return {measured, 1, (measured - 1) / std::sqrt(spread / n)};
}

Deviation joint_drop_rate(const std::vector<Mask>& masks, double p) {
  const std::vector<int> drops = drops_per_position(masks, p);
  const auto all = static_cast<int>(masks.size());
  return binomial(std::count(drops.begin(), drops.end(), all), drops.size(), std::pow(p, all));
}

CorrelationPeak correlation_peak(Mask a, Mask b) {
  expect_comparable(a, b, 0.5);
  const auto n = static_cast<std::int64_t>(a.size());
  const std::vector<double> correlation = cross_correlation(standardised(a), standardised(b));
  std::size_t best = 0;
  for (std::size_t i = 1; i < correlation.size(); ++i)
    if (std::abs(correlation[i]) > std::abs(correlation[best])) best = i;

  CorrelationPeak peak;
  peak.lag = static_cast<std::int64_t>(best) - (n - 1);
  peak.correlation = correlation[best] / static_cast<double>(n - std::abs(peak.lag));
  peak.sigmas = std::abs(correlation[best]) / std::sqrt(static_cast<double>(n));
  const double log_any = std::log(static_cast<double>(correlation.size())) +
                         log_chance(drops_at(a, b, peak.lag), correlation[best] > 0);
  peak.by_chance = std::min(1.0, std::exp(log_any));
  return peak;
}

bool is_shifted_copy(const CorrelationPeak& peak) { return peak.sigmas > 8 && peak.by_chance < 1e-9; }

double smallest_visible_share(std::int64_t n, double p) {
  const double agree = p * p + (1 - p) * (1 - p);
  return std::min(1.0, 2 * alarm_z * std::sqrt(agree / ((1 - agree) * static_cast<double>(n))));
}

double expected_false_alarms(double tests) { return tests * std::erfc(alarm_z / std::sqrt(2.0)); }

}  // namespace tpc
