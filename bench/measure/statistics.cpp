// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.hpp"

#include <algorithm>
#include <limits>

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

double trimmed_mean(std::span<const double> values) {
  const double low = quantile(values, 0.05);
  const double high = quantile(values, 0.95);
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (value < low || value > high) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : median(values);
}

double spread(std::span<const double> medians) {
  if (medians.size() < 2) return 0;
  const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
  return (*high - *low) / median(medians);
}

double chance_of_separation(std::size_t earlier, std::size_t later) {
  double chance = 1;  // one of (earlier + later) choose later orders
  for (std::size_t i = 1; i <= later; ++i)
    chance *= static_cast<double>(i) / static_cast<double>(earlier + i);
  return chance;
}

}  // namespace tpc::bench
