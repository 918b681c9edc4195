// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "bench/campaign/plausible.hpp"
#include "bench/gate/baseline_file.hpp"
#include "bench/gate/compare.hpp"
#include "bench/measure/texts.hpp"
#include "bench/program/bench_main.hpp"
#include "bench/program/first_rank.hpp"
#include "bench/report/outputs.hpp"
#include "bench/report/tables.hpp"
#include "harness/front/machine.hpp"

namespace tpc::bench {

namespace {

std::vector<RankDevice> devices_of(Communicator& ranks) {
  const auto hosts = all_texts(ranks, host_name());
  const auto processes = all_texts(ranks, std::to_string(::getpid()));
  std::vector<RankDevice> devices;
  for (std::size_t r = 0; r < hosts.size(); ++r)
    devices.push_back({static_cast<int>(r), hosts[r], std::stoi(processes[r]), "host"});
  return devices;
}

int agreed(Communicator& ranks, int code) { return static_cast<int>(largest(ranks, code)); }

Limits limits_of(const BenchOptions& options) {
  constexpr double bytes_per_gbit = 1e9 / 8;
  return {options.link_gbit_per_s * bytes_per_gbit, options.peak_gflop_per_s * 1e9};
}

// One run on all ranks from its arguments to its code.
class Run {
 public:
  Run(const BenchOptions& options, const BenchWorld& world, const RunInfo& info)
      : options_(options),
        world_(world),
        setting_(setting_of(options)),
        speaks_(world.ranks->rank() == 0),
        info_(info) {}

  int code() {
    check_setting(setting_, world_.ranks->size());
    on_first_rank(*world_.ranks, [&] { open_files(); });
    if (speaks_) fmt::print("{}", headline({info_, {}, {}, {}, 0}));
    Results results = measured(true);
    on_first_rank(*world_.ranks, [&] { show(results); });
    const bool wrong = agreed(*world_.ranks, speaks_ && is_wrong(results) ? 1 : 0) == 1;
    if (wrong) {
      if (speaks_ && !options_.compare.empty()) fmt::print("\nNo rating: a result was wrong.\n");
      return 1;
    }
    if (options_.compare.empty()) return 0;
    if (options_.update_baseline) {
      on_first_rank(*world_.ranks, [&] { update_baseline(results); });
      return 0;
    }
    return rate(results);
  }

 private:
  static bool is_wrong(const Results& results) {
    return std::any_of(results.rows.begin(), results.rows.end(),
                       [](const Row& row) { return row.status == "fail"; });
  }

  void open_files() {
    outputs_ = Outputs(options_.out);
    if (options_.compare.empty() || options_.update_baseline) return;
    const BaselineFile found = find_baseline(options_.compare, info_);
    baseline_name_ = found.file.string() + (found.other_libraries ? " (of other library versions)" : "");
    baseline_ = read_results(found.file);
  }

  Results measured(bool journal) {
    Results results;
    results.run = info_;
    run_campaign(setting_, world_, results, [&] {
      if (journal) outputs_.write_journal(results);
    });
    if (!speaks_) return results;
    conclude(setting_, results);
    refuse_impossible(results, limits_of(options_));
    results.run.ended = utc_now();
    return results;
  }

  void show(const Results& results) const {
    for (const TextTable& table : all_tables(results)) fmt::print("\n{}", drawn(table));
    if (options_.metrics) fmt::print("\n{}", metric_lines(results));
    outputs_.write_all(results);
  }

  void update_baseline(const Results& results) const {
    write_baseline(options_.compare, results);
    fmt::print("\nThis run is the baseline now: {}\n", baseline_path(options_.compare, results.run).string());
  }

  // Slower once may be the machine's doing: then everything is measured again.
  int rate(const Results& results) {
    BaselineComparison comparison;
    if (speaks_) comparison = compare(baseline_, results);
    const bool alarm = agreed(*world_.ranks, comparison.slower() ? 1 : 0) == 1;
    if (alarm) {
      if (speaks_) fmt::print("\nSlower than the baseline: measuring again.\n");
      const Results again = measured(false);
      if (speaks_) comparison = confirmed(comparison, compare(baseline_, again));
    }
    if (speaks_) fmt::print("\n{}", comparison_report(comparison, baseline_name_));
    constexpr int performance = 4;
    return agreed(*world_.ranks, comparison.slower() ? performance : 0);
  }

  const BenchOptions& options_;
  const BenchWorld& world_;
  CampaignSetting setting_;
  bool speaks_;
  RunInfo info_;
  Outputs outputs_{""};
  Results baseline_;
  std::string baseline_name_;
};

}  // namespace

int run_on_ranks(const BenchOptions& options, const BenchWorld& world, const std::string& mpi_library,
                 const std::string& command) {
  RunInfo info = describe_run(command, mpi_library);
  info.provenance.ranks = world.ranks->size();
  info.provenance.implementation = options.implementation;
  info.devices = devices_of(*world.ranks);
  return Run(options, world, info).code();
}

}  // namespace tpc::bench
