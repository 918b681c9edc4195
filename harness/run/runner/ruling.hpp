// SPDX-License-Identifier: Apache-2.0
// From what each rank says of a case to what holds for all of them. Pure: no rank talks to another in here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/compare.hpp"
#include "harness/run/runner/case_calls.hpp"
#include "harness/values/case.hpp"
#include "harness/values/implementation.hpp"
#include "harness/values/record.hpp"

namespace tpc {

// How a rank came out of a case.
struct RankReport {
  enum class How {
    idle,    // not in the case's mesh
    result,  // the responses of implementation.hpp
    refused,
    unsupported,
    error,
    threw,        // an exception that no implementation may throw
    deadline,     // gave up waiting for others
    abandoned,    // others gave up
    environment,  // MPI, memory, files
    usage,        // what was asked for cannot be
    prepared,     // the baseline is there
    judged        // compared with the baseline
  };
  How how = How::idle;
  std::string reason;
  CallReport calls;
  Comparison comparison;  // where judged
};
RankReport::How how_of(Response::Status status);

// Why a run cannot go on, and the exit code it then ends with.
struct Stop {
  int code = 0;
  std::string reason;
  bool at_once = false;  // ranks are missing: nothing may wait for them any more
};

struct Ruling {
  bool go_on = false;  // all ranks hold a result, which is still to be judged
  Outcome verdict = Outcome::error;
  std::optional<double> worst_ratio;
  std::string message;
  std::string note;  // what was measured besides, of so many tests of statistics
  std::int64_t tests = 0;
  bool broken = false;  // ranks parted: their communicators must be made anew
  std::optional<Stop> stop;
  double seconds = 0;
  std::vector<PhaseVolume> volume;  // this rank's own; not agreed on
};

using RankReports = std::vector<std::optional<RankReport>>;  // nothing from a rank that did not arrive

// After the implementation was asked; after the baseline was prepared; after the comparison.
Ruling rule_on_responses(const Case& c, const RankReports& reports);
// Whether a ruling's message is about how something was refused.
bool tells_of_refusal(const std::string& message);
Ruling rule_on_preparation(const RankReports& reports);
Ruling rule_on_comparison(const Case& c, const RankReports& reports);

std::string pack(const RankReport& report);
RankReport unpack_report(const std::string& bytes);
std::string pack(const Ruling& ruling);
Ruling unpack_ruling(const std::string& bytes);

}  // namespace tpc
