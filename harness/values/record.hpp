// SPDX-License-Identifier: Apache-2.0
// What is kept of a run: one record per case, the provenance before them and a summary behind. Console, JUnit
// and exit code are renderings of records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/values/provenance.hpp"
#include "reference/core/words.hpp"

namespace tpc {

// Compare's verdicts, and that a case was not put to the implementation at all.
enum class Outcome { pass, fail, unsupported, error, not_run };
constexpr auto words(Outcome) { return spelling("pass", "fail", "unsupported", "error", "not_run"); }

// What one phase of a case sent, beside what its profile allows. Payload: bytes of the full tensors; ring
// wire: bytes a rank sends under the ring algorithm.
struct PhaseVolume {
  std::string phase;
  std::int64_t calls = 0;
  std::int64_t payload = 0;
  double ring_wire = 0;
  std::int64_t profile_payload = 0;
};

struct Record {
  std::string case_name;  // with its suite: "tensor_parallel.column_linear/tp4_f64_bias"
  std::string suite;
  Outcome verdict = Outcome::not_run;
  std::string tier;
  std::string mesh;  // "(4) over (tp)"
  std::string dtype;
  std::string profile;
  std::string implementation;
  std::uint64_t seed = 0;
  double seconds = 0;
  std::optional<double> worst_ratio;  // none where nothing was compared
  std::string message;                // why, unless it passed
  std::string note;                   // what was measured besides
  std::int64_t tests = 0;             // of statistics among it
  std::string replay;                 // the command line that runs this case alone
  std::string diagnosis;              // of a failure: what is wrong in it, and what would explain it
  std::string smallest;               // of a failure that was shrunk: the smallest, with its command line
  std::vector<PhaseVolume> volume;    // where that is judged too
  int repetition = 0;                 // of --gtest_repeat, from 0
};

struct Tally {
  int passed = 0;
  int failed = 0;
  int unsupported = 0;
  int errors = 0;
  int not_run = 0;
  int compared() const { return passed + failed + errors; }
  int all() const { return compared() + unsupported + not_run; }
};
void count(Tally& tally, Outcome verdict);
Tally tally_of(const std::vector<Record>& records);

// The larger of two ratios, where NaN is worse than any number.
double worse_ratio(double a, double b);

// Last line of the records of a run that came to its end. Without it, an exit code is no verdict.
struct Summary {
  Tally tally;
  int exit_code = 0;
  double seconds = 0;
};

// One line of JSON each, no line break at the end. A ratio that is no finite number is written as a string.
std::string to_json(const Record& record);
std::string to_json(const Provenance& provenance);
std::string to_json(const Summary& summary);

// The last line of a run: "TP_CONFORMANCE PASS 412/412 0.1.0 1a2b3c4d"
std::string last_line(const Provenance& provenance, const Summary& summary);

}  // namespace tpc
