// SPDX-License-Identifier: Apache-2.0
// Results in the formats that other tools read.
#pragma once

#include <string>

#include "bench/report/results.hpp"

namespace tpc::bench {

// One line per row; the figures of all rows are columns.
std::string to_csv(const Results& results);

// As Google Benchmark writes it and its compare.py reads it: each round is a repetition, whose time is its
// median; the median of all samples is the aggregate. No spread is among the aggregates: tools that track
// every entry would take it for a time.
std::string to_google_json(const Results& results);

// One file to look at: charts (by name, as SVG text) with their tables under them. Refers to nothing outside.
struct EmbeddedChart {
  std::string name;
  std::string title;
  std::string svg;
};
std::string to_html(const Results& results, const std::vector<EmbeddedChart>& charts);

}  // namespace tpc::bench
