// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "reference/core/contract.hpp"

namespace tpc::bench {

double quantile(std::span<const double> values, double q) {
  TPC_EXPECT(!values.empty() && q >= 0 && q <= 1, "quantile {} of {} values", q, values.size());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

std::size_t steady_from(std::span<const double> series) {
  double sum = 0;
  double squares = 0;
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t first = series.size(); first-- > 0;) {
    sum += series[first];
    squares += series[first] * series[first];
    const auto count = static_cast<double>(series.size() - first);
    const double error = (squares - sum * sum / count) / (count * count);
    if (first > series.size() / 2 || error > least) continue;
    least = error;
    best = first;
  }
  return best;
}

Summary summary_of(std::span<const double> series) {
  TPC_EXPECT(!series.empty(), "a summary of nothing");
  const std::size_t from = steady_from(series);
  const auto window = series.subspan(from);
  return {from, median(window), quantile(window, 0.05), quantile(window, 0.95)};
}

double same_same_band(const std::vector<std::vector<double>>& rounds) {
  std::vector<double> medians;
  for (const auto& round : rounds)
    if (!round.empty()) medians.push_back(median(round));
  if (medians.size() < 2) return 0;
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  return (*high - *low) / median(medians);
}

double probability_not_larger(std::span<const double> earlier, std::span<const double> later) {
  TPC_EXPECT(!earlier.empty() && !later.empty(), "a test of {} against {} values", earlier.size(),
             later.size());
  std::vector<std::pair<double, bool>> all;
  for (const double x : earlier) all.emplace_back(x, false);
  for (const double x : later) all.emplace_back(x, true);
  std::sort(all.begin(), all.end());
  double rank_sum = 0;
  double ties = 0;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end].first == all[i].first) ++end;
    const auto equal = static_cast<double>(end - i);
    const double rank = static_cast<double>(i + end + 1) / 2;  // ranks count from 1
    for (std::size_t k = i; k < end; ++k) rank_sum += all[k].second ? rank : 0;
    ties += equal * equal * equal - equal;
    i = end;
  }
  const auto a = static_cast<double>(earlier.size());
  const auto b = static_cast<double>(later.size());
  const double n = a + b;
  const double u = rank_sum - b * (b + 1) / 2;
  const double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (variance <= 0) return 1;
  const double z = (u - a * b / 2 - 0.5) / std::sqrt(variance);
  return 0.5 * std::erfc(z / std::numbers::sqrt2);
}

}  // namespace tpc::bench
