// SPDX-License-Identifier: Apache-2.0
// Tables of results: drawn on the terminal, and put under the charts of the report.
#pragma once

#include <string>
#include <vector>

#include "bench/report/results.hpp"

namespace tpc::bench {

struct TextTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;  // below it
};

TextTable step_table(const Results& results);
TextTable outside_table(const Results& results);
TextTable split_table(const Results& results);  // where the time of a step goes
TextTable overlap_table(const Results& results);
// Of one form, or of all.
TextTable model_table(const Results& results, const std::string& form = "");  // measured beside four lines
TextTable collective_table(const Results& results);                           // beside the bare loop
TextTable product_table(const Results& results);
TextTable fit_table(const Results& results);

// Those that have rows.
std::vector<TextTable> all_tables(const Results& results);
std::string drawn(const TextTable& table);
// One line on what ran where.
std::string headline(const Results& results);
// "METRIC name=value unit" for tools that read standard output by patterns.
std::string metric_lines(const Results& results);

}  // namespace tpc::bench
