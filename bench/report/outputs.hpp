// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "bench/report/results.hpp"

namespace tpc::bench {

// The folder of a run's files. Each file is complete or absent at any time.
class Outputs {
 public:
  // Makes the folder; empty: nothing is written. Throws UsageError where it cannot be written.
  explicit Outputs(const std::string& folder);

  // bench.json alone, while the run goes on.
  void write_journal(const Results& results) const;
  // Everything. Charts are left out with a warning where gnuplot is missing or fails.
  void write_all(const Results& results) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tpc::bench
