// SPDX-License-Identifier: Apache-2.0
// Measurements that are rated: several starts of the ranks, merged and held against a baseline.
#include "bench/report/launches.hpp"

#include <algorithm>
#include <filesystem>

#include "bench/gate/baseline_file.hpp"
#include "bench/gate/compare.hpp"
#include "bench/program/bench_main.hpp"
#include "bench/program/present.hpp"
#include "bench/report/tables.hpp"
#include "harness/front/launcher.hpp"
#include "harness/values/machine/private_folder.hpp"
#include "reference/comm/mpi/session.hpp"

namespace tpc::bench {

namespace {

// Ended with a code of its own, and has said why.
struct LaunchFailed {
  int code;
};

class Launches {
 public:
  // What was measured is written after each launch.
  Launches(const BenchOptions& options, const Arguments& arguments, const Outputs& outputs)
      : options_(options), arguments_(arguments), outputs_(outputs) {}

  // So many more; everything measured so far as one.
  Results measure() {
    const int ranks = *std::max_element(options_.tp.begin(), options_.tp.end());
    for (int i = 0; i < options_.launches; ++i) {
      const std::filesystem::path folder = folder_.path() / std::to_string(all_.size());
      Arguments words = arguments_;  // of an option that is given twice the last counts
      for (const std::string& word :
           {std::string("--part"), std::string("--out"), folder.string(), std::string("--seconds"),
            fmt::format("{}", options_.seconds / options_.launches)})
        words.push_back(word);
      const int code = launch(ranks, words);
      if (code != 0) throw LaunchFailed{code};
      all_.push_back(read_results(folder / "bench.json"));
      outputs_.write_journal(merged(all_));
    }
    Results results = merged(all_);
    conclude(setting_of(options_), results);
    refuse_impossible(results, limits_of(options_));
    return results;
  }

 private:
  const BenchOptions& options_;
  const Arguments& arguments_;
  const Outputs& outputs_;
  PrivateFolder folder_;
  std::vector<Results> all_;
};

struct Baseline {
  std::string name;
  Results results;
};

Baseline open_baseline(const BenchOptions& options, const RunInfo& run) {
  const BaselineFile found = find_baseline(options.compare, run);
  return {found.file.string() + (found.other_libraries ? " (of other library versions)" : ""),
          read_results(found.file)};
}

// Slower once may be the machine's doing: then `again` measures as much once more, where it can.
int rate(const Baseline& baseline, const Results& now, const std::function<Results()>& again) {
  constexpr int performance = 4;
  BaselineComparison comparison = compare(baseline.results, now);
  if (comparison.slower() && again) {
    fmt::print("\nSlower than the baseline: measuring again.\n");
    comparison = confirmed(comparison, compare(baseline.results, again()));
  }
  fmt::print("\n{}", comparison_report(comparison, baseline.name));
  return comparison.slower() ? performance : 0;
}

int update_baseline(const BenchOptions& options, const Results& results) {
  write_baseline(options.compare, results);
  fmt::print("\nThis run is the baseline now: {}\n", baseline_path(options.compare, results.run).string());
  return 0;
}

int wrong() {
  fmt::print("\nNo rating: a result was wrong.\n");
  return 1;
}

Results results_in(const std::string& where) {
  const std::filesystem::path path = where;
  return read_results(std::filesystem::is_directory(path) ? path / "bench.json" : path);
}

}  // namespace

int measure_in_launches(const BenchOptions& options, const Arguments& arguments) {
  const bool rated = !options.compare.empty() && !options.update_baseline;
  const Outputs outputs(options.out);
  std::optional<Baseline> baseline;  // what is wrong with it is said before anything is measured
  if (rated) baseline = open_baseline(options, describe_run("", MpiSession::library()));
  Launches launches(options, arguments, outputs);
  try {
    const Results results = launches.measure();
    fmt::print("{}{} launches of the ranks\n", headline(results), options.launches);
    const int code = present(options, results, outputs);
    if (options.compare.empty()) return code;
    if (code != 0) return wrong();
    if (!rated) return update_baseline(options, results);
    return rate(*baseline, results, [&] {
      Results more = launches.measure();
      outputs.write_all(more);
      return more;
    });
  } catch (const LaunchFailed& failed) {
    return failed.code;
  }
}

int rate_files(const BenchOptions& options) {
  std::vector<Results> launches;
  for (const std::string& run : options.runs) launches.push_back(results_in(run));
  const Results results = merged(launches);
  const bool failed = std::any_of(results.rows.begin(), results.rows.end(),
                                  [](const Row& row) { return row.status == "fail"; });
  if (failed) return wrong();
  if (options.update_baseline) return update_baseline(options, results);
  return rate(open_baseline(options, results.run), results, nullptr);
}

}  // namespace tpc::bench
