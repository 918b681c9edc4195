// SPDX-License-Identifier: Apache-2.0
// The command line of tp_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/steps/station.hpp"
#include "reference/core/definitions.hpp"
#include "reference/core/dtype.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc::bench {

enum class Command { steps, collectives, gemm, predict, validate, rate };

struct BenchOptions {
  Command command = Command::steps;
  bool help = false;
  bool version = false;

  // What is computed. Zeros leave the model's own figure.
  std::string model = "gpt2-medium";  // a shipped one, or a config.json
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t layers = 0;
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  DType dtype = DType::f32;
  Pass pass = Pass::step;

  // How it is cut and over what.
  std::vector<int> tp = {2, 4, 8};
  std::vector<SequenceParallel> sequence_parallel = {SequenceParallel::off, SequenceParallel::kept};
  int overlap_chunks = 2;  // of steps under sequence parallelism that are measured once more; 1: none
  std::vector<std::string> interconnects = {"measured", "nvlink4", "nvlink5", "pcie5",
                                            "ib-hdr",   "ib-ndr",  "document"};
  std::string implementation = "reference";
  std::string transport = "auto";  // shm or tcp: which of Open MPI's is used
  std::string device = "h100";     // of predict
  std::string calibration;         // of predict: a bench.json

  // How it is measured.
  int launches = 1;                 // starts of the ranks; a rating needs several
  int samples = 0;                  // 0: as many as the time allows
  double seconds = 120;             // that the measurements may take together
  std::int64_t largest = 64 << 20;  // bytes, of collectives
  double link_gbit_per_s = 0;       // what the link can carry; 0: not known
  double peak_gflop_per_s = 0;      // what a rank's device can do; 0: not known

  // What becomes of it.
  std::string out;
  std::string compare;
  bool update_baseline = false;
  std::vector<std::string> runs;  // of rate: folders of runs, or their bench.json
  bool part = false;              // one of several launches: bench.json alone, and nothing printed
  bool metrics = false;           // print a line per row for tools
  bool every_row = false;         // of validate
};

using Arguments = std::vector<std::string>;  // without the program's name

// Throws UsageError.
BenchOptions parse_options(const Arguments& arguments);
std::string help_text();

}  // namespace tpc::bench
