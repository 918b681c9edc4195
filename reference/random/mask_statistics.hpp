// SPDX-License-Identifier: Apache-2.0
// What tells dropout masks of independent streams from masks that share numbers. A mask has 1 for kept and 0
// for dropped; masks of one call have the same, non-zero size. z values are deviations in units of their
// standard deviation under independence with drop rate p, 0 < p < 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tpc {

using Mask = std::span<const std::uint8_t>;

struct Deviation {
  double measured = 0;
  double expected = 0;
  double z = 0;
};

// A deviation beyond this is an alarm: two-sided 8e-11 per test, so that 200 runs of 22,000 tests raise one
// by chance with a probability of 4e-4 (6 sigma: 9e-3).
inline constexpr double alarm_z = 6.5;

Deviation keep_rate(Mask mask, double p);       // expected 1-p
Deviation agreement(Mask a, Mask b, double p);  // share of equal positions; expected p² + (1-p)²

// Var/(T·p·(1-p)) of the number of masks that drop a position, taken about T·p: 1 when the T masks are
// independent, 1 + 2/T when two of them are the same, T when all are. Sees a shared pair where the joint drop
// rate p^T is too rare to measure.
Deviation dispersion(const std::vector<Mask>& masks, double p);
Deviation joint_drop_rate(const std::vector<Mask>& masks, double p);  // dropped by all; expected p^T

// The lag at which b looks most like a, b[i + lag] = a[i], over all lags of either sign. `sigmas` are those
// of a sum over all positions, so that the few of an extreme lag cannot reach a peak by chance.
struct CorrelationPeak {
  std::int64_t lag = 0;
  double correlation = 0;  // 1 for a copy, of the positions that overlap
  double sigmas = 0;
  double by_chance = 1;  // bound on the probability of such a peak at any lag of independent masks
};
CorrelationPeak correlation_peak(Mask a, Mask b);
// Beyond 8 sigma, where drops are rare also beyond chance by the exact bound: for small masks the tail is
// longer than the normal distribution's.
bool is_shifted_copy(const CorrelationPeak& peak);

// The share of positions that two masks of n may have in common before the agreement test sees it with
// alarm_z to spare on either side. 1 where even a copy could pass.
double smallest_visible_share(std::int64_t n, double p);

// The number of alarms that chance alone raises in so many tests.
double expected_false_alarms(double tests);

}  // namespace tpc
