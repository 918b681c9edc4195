// SPDX-License-Identifier: Apache-2.0
#include "bench/program/present.hpp"

#include <algorithm>

#include "bench/report/tables.hpp"
#include "harness/run/runner/ending.hpp"

namespace tpc::bench {

Limits limits_of(const BenchOptions& options) {
  constexpr double bytes_per_gbit = 1e9 / 8;
  return {options.link_gbit_per_s * bytes_per_gbit, options.peak_gflop_per_s * 1e9};
}

int present(const BenchOptions& options, const Results& results, const Outputs& outputs) {
  for (const TextTable& table : all_tables(results)) fmt::print("\n{}", drawn(table));
  const bool over_network = std::any_of(results.rows.begin(), results.rows.end(), [](const Row& row) {
    return row.transport.find("tcp") != std::string::npos;
  });
  if (options.link_gbit_per_s > 0 && !over_network)
    say("tp_bench: --link-gbit: nothing went over a network, so nothing was held against its rate\n");
  if (options.metrics) fmt::print("\n{}", metric_lines(results));
  outputs.write_all(results);
  return std::any_of(results.rows.begin(), results.rows.end(),
                     [](const Row& row) { return row.status == "fail"; })
             ? 1
             : 0;
}

}  // namespace tpc::bench
