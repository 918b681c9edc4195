// SPDX-License-Identifier: Apache-2.0
#include "bench/report/outputs.hpp"

#include "bench/report/charts.hpp"
#include "harness/run/records/record_file.hpp"
#include "harness/run/runner/ending.hpp"

namespace tpc::bench {

Outputs::Outputs(const std::string& folder) : folder_(folder) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    throw UsageError(fmt::format("--out {}: the folder cannot be made: {}", folder, error.message()));
  check_final_file(folder_ / "bench.json");
}

void Outputs::write_journal(const Results& results) const {
  if (!folder_.empty()) write_final_file(folder_ / "bench.json", to_json(results));
}

void Outputs::write_all(const Results& results) const {
  if (folder_.empty()) return;
  write_journal(results);
  write_final_file(folder_ / "bench.csv", to_csv(results));
  write_final_file(folder_ / "google_benchmark.json", to_google_json(results));
  std::vector<EmbeddedChart> charts;
  try {
    for (const Chart& chart : all_charts(results)) charts.push_back(draw(chart, folder_));
  } catch (const EnvironmentError& error) {
    say(fmt::format("tp_bench: no charts: {}\n", error.what()));
  }
  write_final_file(folder_ / "report.html", to_html(results, charts));
}

}  // namespace tpc::bench
