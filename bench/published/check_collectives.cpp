// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "bench/published/check.hpp"
#include "bench/published/measured.hpp"

namespace tpc::bench {

namespace {

constexpr double kib = 1024.0;
constexpr double mib = 1024.0 * kib;
constexpr double gib = 1024.0 * mib;
constexpr auto all_reduce = CollectiveKind::all_reduce;

// The ring's line: what is fitted over the payload, turned into a rate on the bus.
double bus_rate(const AlphaBeta& line, int ranks) {
  return wire_cost(all_reduce, Algorithm::ring, ranks).bytes_per_payload / line.s_per_byte;
}

void check_fits(const Tables& tables, Checks& checks) {
  for (const std::string gpu : {"a100", "v100"})
    for (int ranks = 2; ranks <= 8; ++ranks) {
      const auto timings = published_all_reduces(tables, gpu, ranks, large_message_bytes);
      const RelativeErrors errors = errors_of(fit_alpha_beta(timings), timings);
      const std::string what = fmt::format("{} n={}, error of alpha + bytes/rate, ", gpu, ranks);
      const bool a100 = gpu == "a100";
      checks.push_back(error_at_most("allreduce_published", what + "mean", 100 * errors.mean, a100 ? 3 : 1));
      checks.push_back(error_at_most("allreduce_published", what + "worst", 100 * errors.max, a100 ? 7 : 2));
    }
}

void check_columns(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("allreduce_columns");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& gpu = table.text(row, "gpu");
    const int ranks = static_cast<int>(table.number(row, "ranks"));
    const std::string what = fmt::format("{} n={} ", gpu, ranks);
    const auto seconds = [&](double bytes) { return published_all_reduce_s(tables, gpu, ranks, bytes); };
    const auto time = [&](const std::string& column, double bytes) {
      if (table.has(row, column))
        checks.push_back(
            exact(table.name(), what + column, "µs", 1e6 * seconds(bytes), table.figure(row, column)));
    };
    const auto rate = [&](const std::string& column, double ours, double tolerance) {
      if (table.has(row, column))
        checks.push_back(
            in_band(table.name(), what + column, "GB/s", ours / 1e9, table.figure(row, column), tolerance));
    };
    time("us_1mib", mib);
    time("us_16mib", 16 * mib);
    time("us_256mib", 256 * mib);
    rate("busbw_256mib", bus_bandwidth(all_reduce, ranks, 256 * mib, seconds(256 * mib)), 0.1);
    rate("busbw_1gib", bus_bandwidth(all_reduce, ranks, gib, seconds(gib)), 0.1);
    if (!table.has(row, "bus_gb_per_s")) continue;
    const AlphaBeta line = fit_alpha_beta(published_all_reduces(tables, gpu, ranks, large_message_bytes));
    rate("bus_gb_per_s", bus_rate(line, ranks), 0.02 * table.number(row, "bus_gb_per_s"));
    checks.push_back({table.name(), what + "alpha_us", "µs", 1e6 * line.alpha_s,
                      table.number(row, "alpha_us"), Gate::info, 0});
  }
}

// A size that the fit has not seen.
void check_unseen(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("allreduce_96mib");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const int ranks = static_cast<int>(table.number(row, "ranks"));
    const AlphaBeta line = fit_alpha_beta(published_all_reduces(tables, "a100", ranks, large_message_bytes));
    const Figure measured = table.figure(row, "time_ms");
    checks.push_back(in_band(table.name(), fmt::format("a100 n={}, 96 MiB, by the fit", ranks), "ms",
                             1e3 * line.seconds(96 * mib), measured, 0.1 * measured.value));
  }
}

void check_counts(const Tables& tables, Checks& checks) {
  constexpr double payload = 8 * gib;
  const Table& table = tables.at("allreduce_by_count");
  std::map<std::string, std::vector<CollectiveTiming>> in_switch;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const int ranks = static_cast<int>(table.number(row, "ranks"));
    const std::string what = fmt::format("{} n={}, ", table.text(row, "gpu"), ranks);
    const double ring = wire_cost(all_reduce, Algorithm::ring, ranks).bytes_per_payload;
    const double algbw = table.number(row, "busbw") / ring;
    checks.push_back(
        exact(table.name(), what + "payload over time", "GB/s", algbw, table.figure(row, "algbw")));
    if (table.text(row, "regime") != "in_switch") continue;
    const double wire = wire_cost(all_reduce, Algorithm::in_switch, ranks).bytes_per_payload;
    checks.push_back(
        exact(table.name(), what + "wire rate", "GB/s", algbw * wire, table.figure(row, "wire")));
    in_switch[table.text(row, "gpu")].push_back({all_reduce, ranks, {payload, payload / (algbw * 1e9)}});
  }
  for (const auto& [gpu, timings] : in_switch) {
    const double rate = fit_in_switch_rate(timings);
    double worst = 0;
    for (const CollectiveTiming& t : timings) {
      const double seconds = wire_bytes(t.kind, Algorithm::in_switch, t.ranks, payload) / rate;
      worst = std::max(worst, std::abs(seconds / t.timing.seconds - 1));
    }
    checks.push_back(
        error_at_most(table.name(), gpu + ", one wire rate for all counts, worst error", 100 * worst, 2));
  }
}

}  // namespace

Checks check_collectives(const Tables& tables) {
  Checks checks;
  check_fits(tables, checks);
  check_columns(tables, checks);
  check_unseen(tables, checks);
  check_counts(tables, checks);
  return checks;
}

std::vector<Timing> published_all_reduces(const Tables& tables, const std::string& gpu, int ranks,
                                          double at_least_bytes) {
  const Table& table = tables.at("allreduce_published");
  std::vector<Timing> timings;
  for (std::size_t row = 0; row < table.rows(); ++row)
    if (table.text(row, "gpu") == gpu && table.number(row, "ranks") == ranks &&
        table.number(row, "bytes") >= at_least_bytes)
      timings.push_back({table.number(row, "bytes"), table.number(row, "time_ns") * 1e-9});
  return timings;
}

double published_all_reduce_s(const Tables& tables, const std::string& gpu, int ranks, double bytes) {
  const auto timings = published_all_reduces(tables, gpu, ranks, bytes);
  if (timings.empty() || timings.front().payload_bytes != bytes)
    throw UsageError(
        fmt::format("allreduce_published has no row for {} n={} of {} bytes", gpu, ranks, bytes));
  return timings.front().seconds;
}

}  // namespace tpc::bench
