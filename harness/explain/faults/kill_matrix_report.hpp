// SPDX-License-Identifier: Apache-2.0
// What is kept of a kill matrix.
#pragma once

#include <chrono>
#include <string>

#include "harness/explain/faults/kill_matrix.hpp"
#include "harness/run/records/record_file.hpp"

namespace tpc {

// One line of JSON, no line break at the end.
std::string to_json(const FaultResult& result);
// The last line of the records.
std::string matrix_summary_json(const std::vector<FaultResult>& results, int exit_code, double seconds);

std::string result_line(const FaultResult& result);  // for the console, as it comes
std::string matrix_summary(const std::vector<FaultResult>& results, double seconds);
// With the date and the commit.
std::string matrix_markdown(const Provenance& provenance, const std::vector<FaultResult>& results,
                            double seconds);

// Writes the records as they come and the table at the end, and returns what to print.
class MatrixOutput {
 public:
  // `table` may be empty. Throws EnvironmentError where a record cannot be written, as its members do.
  MatrixOutput(Provenance provenance, RecordFile records, std::string table);
  std::string add(const FaultResult& result);
  std::string finish(const std::vector<FaultResult>& results, int exit_code);

 private:
  Provenance provenance_;
  RecordFile records_;
  std::string table_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace tpc
