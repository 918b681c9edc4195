// SPDX-License-Identifier: Apache-2.0
// What is kept of one measurement: every table, file and chart is a view of rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/measure/sampling.hpp"
#include "bench/measure/statistics.hpp"

namespace tpc::bench {

struct Row {
  // What was measured: the independent variables. Those that do not apply are empty or 0.
  std::string
      kind;  // "collective", "bare_collective", "gemm", "step", "compute_only", "communication_only", ...
  std::string op;  // "all_reduce", "transformer_layers", "2048x768x3072 nt"
  std::string pass;
  std::string dtype;
  std::string sequence_parallel;
  std::string implementation;
  std::string transport;  // that was really used: "shm", "tcp(lo)", "shm+tcp(veth0)", "none"
  int tp = 1;
  int hosts = 1;
  std::int64_t layers = 0;
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::int64_t hidden = 0;
  std::int64_t payload_bytes = 0;

  // What came out.
  std::string status = "ok";  // "ok", "fail", "skip"
  std::string reason;
  bool oversubscribed = false;  // more ranks than cores: no efficiency is claimed
  Series series;
  Summary seconds;
  std::map<std::string, double> figures;  // units in the names
};

// Identifies what was measured; stable.
std::string key(const Row& row);

// Medians of what this machine calls equal: of launches, each over its steady window; where there was one
// launch, of its rounds.
std::vector<double> equal_medians(const Row& row);

// Fills `seconds` and the status from the series.
void summarise(Row& row);

}  // namespace tpc::bench
