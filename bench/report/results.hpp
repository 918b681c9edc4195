// SPDX-License-Identifier: Apache-2.0
// All that is kept of a run. bench.json is this, and everything else is made from it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/cost_model/alpha_beta.hpp"
#include "bench/measure/collectives.hpp"
#include "bench/measure/row.hpp"
#include "harness/values/provenance.hpp"

namespace tpc::bench {

inline constexpr int results_schema_version = 2;

struct RankDevice {
  int rank = 0;
  std::string host;
  int process = 0;
  std::string device;  // "host" or what the driver calls it
};

struct RunInfo {
  Provenance provenance;
  std::string id;
  std::string ended;  // UTC; empty while the run lasts, and for ever where it was killed
  std::string cpu;
  std::string kernel;
  std::string gpu = "none";
  std::string nccl = "none";
  std::string driver = "none";
  std::map<std::string, std::string> environment;  // of the allow-listed variables
  std::vector<RankDevice> devices;
};

// One collective on so many ranks, fitted on this machine.
struct FittedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 2;
  std::string transport;
  PiecewiseAlphaBeta line;
  double mean_error = 0;  // of the fit
  double max_error = 0;
};

struct Results {
  RunInfo run;
  std::vector<Row> rows;
  std::vector<FittedCollective> fits;
  std::vector<Fingerprint> fingerprints;
  double same_same_band = 0;  // the largest of the rows'
};

std::string to_json(const Results& results);
// Throws UsageError that says what is wrong: no JSON, another schema or version.
Results read_results(const std::filesystem::path& file);

// What a baseline must share with a run to be its baseline, and what it should.
std::string hardware_key(const RunInfo& run);  // "amd-epyc-2-cores"
std::string libraries_key(const RunInfo& run);

RunInfo describe_run(const std::string& command, const std::string& mpi_library);
std::string utc_now();
// Variables that decide how fast things go; nothing else of the environment is written down.
std::map<std::string, std::string> allowed_environment();

}  // namespace tpc::bench
