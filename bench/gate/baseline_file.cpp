// SPDX-License-Identifier: Apache-2.0
#include "bench/gate/baseline_file.hpp"

#include "harness/run/records/record_file.hpp"
#include "reference/core/contract.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {

namespace {

bool is_file(const std::string& where) { return where.ends_with(".json"); }

}  // namespace

std::filesystem::path baseline_path(const std::string& where, const RunInfo& run) {
  if (is_file(where)) return where;
  const std::string libraries = fmt::format("{:016x}.json", hash_name(libraries_key(run)));
  return std::filesystem::path(where) / hardware_key(run) / libraries;
}

BaselineFile find_baseline(const std::string& where, const RunInfo& run) {
  const std::filesystem::path exact = baseline_path(where, run);
  if (std::filesystem::exists(exact)) return {exact, false};
  std::filesystem::path newest;
  std::error_code error;
  if (!is_file(where))
    for (const auto& entry : std::filesystem::directory_iterator(exact.parent_path(), error))
      if (entry.path().extension() == ".json" &&
          (newest.empty() || entry.last_write_time() > std::filesystem::last_write_time(newest)))
        newest = entry.path();
  if (!newest.empty()) return {newest, true};
  throw UsageError(fmt::format(
      "there is no baseline {}; make one on this machine with the versions you trust: the same command with "
      "--update-baseline",
      exact.string()));
}

void write_baseline(const std::string& where, const Results& results) {
  const std::filesystem::path file = baseline_path(where, results.run);
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  check_final_file(file);
  write_final_file(file, to_json(results));
}

}  // namespace tpc::bench
