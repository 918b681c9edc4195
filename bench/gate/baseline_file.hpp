// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "bench/report/results.hpp"

namespace tpc::bench {

// Where the baseline of a run lies: the file that is named, or, in a folder, HARDWARE/LIBRARIES.json; where
// the libraries are new, the newest of the same hardware.
struct BaselineFile {
  std::filesystem::path file;
  bool other_libraries = false;
};

// Throws UsageError that says how to make one where there is none, and where it cannot be read.
BaselineFile find_baseline(const std::string& where, const RunInfo& run);
// Where --update-baseline writes.
std::filesystem::path baseline_path(const std::string& where, const RunInfo& run);
void write_baseline(const std::string& where, const Results& results);

}  // namespace tpc::bench
