// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "bench/report/formats.hpp"

namespace tpc::bench {

namespace {

using nlohmann::json;
constexpr double ns = 1e9;

json entry(const Row& row, double seconds, std::size_t samples) {
  const std::string name = key(row);
  const auto repetitions = row.series.rounds.size();
  json j = {{"name", name},
            {"family_index", 0},
            {"per_family_instance_index", 0},
            {"run_name", name},
            {"repetitions", repetitions},
            {"threads", 1},
            {"iterations", samples * static_cast<std::size_t>(row.series.calls)},
            {"real_time", seconds * ns},
            {"cpu_time", seconds * ns},
            {"time_unit", "ns"}};
  for (const char* figure : {"efficiency", "bus_bandwidth_gb_per_s", "gflop_per_s"})
    if (row.figures.contains(figure)) j[figure] = row.figures.at(figure);
  return j;
}

void add_row(const Row& row, json& benchmarks) {
  if (row.status != "ok") {
    json j = entry(row, 0, 0);
    j["run_type"] = "iteration";
    j["repetition_index"] = 0;
    j["error_occurred"] = true;
    j["error_message"] = row.status + ": " + row.reason;
    benchmarks.push_back(std::move(j));
    return;
  }
  const auto rounds = row.series.by_round();
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    json j = entry(row, median(rounds[round]), rounds[round].size());
    j["run_type"] = "iteration";
    j["repetition_index"] = round;
    benchmarks.push_back(std::move(j));
  }
  json j = entry(row, row.seconds.median, row.series.slowest.size());
  j["name"] = key(row) + "_median";
  j["run_type"] = "aggregate";
  j["aggregate_name"] = "median";
  j["aggregate_unit"] = "time";
  benchmarks.push_back(std::move(j));
}

}  // namespace

std::string to_google_json(const Results& results) {
  const Provenance& p = results.run.provenance;
  json benchmarks = json::array();
  for (const Row& row : results.rows) add_row(row, benchmarks);
  const json all = {{"context",
                     {{"date", p.started},
                      {"host_name", p.host},
                      {"executable", "tp_bench"},
                      {"num_cpus", p.cores},
                      {"mhz_per_cpu", 0},
                      {"cpu_scaling_enabled", false},
                      {"caches", json::array()},
                      {"load_avg", json::array()},
                      {"library_build_type", "release"},
                      {"json_schema_version", 1},
                      {"tp_bench_version", p.version},
                      {"tp_bench_commit", short_commit(p)},
                      {"libraries", libraries_key(results.run)}}},
                    {"benchmarks", benchmarks}};
  return all.dump(1) + "\n";
}

}  // namespace tpc::bench
