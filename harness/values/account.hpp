// SPDX-License-Identifier: Apache-2.0
// What an implementation may send, to the call, and keep, to the byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "harness/values/record.hpp"

namespace tpc {

struct Account {
  std::string profile;  // the named way of doing it
  Trace calls;          // in order; the same on every rank
  // Kept between forward and backward; statistics (per-row means, deviations, maxima) are apart from the
  // formulas.
  std::optional<std::int64_t> activation_bytes;
  std::optional<std::int64_t> statistics_bytes;
  bool operator==(const Account&) const = default;
};

// What is wrong with a rank's response, in one line; empty where nothing is. The trace is compared call by
// call: operation, axis, group, count, dtype, payload, wire and phase, and the layer's and region's names
// where the implementation gives any. Where the transport's calls were counted independently they must agree
// with the trace.
std::string account_defect(const Account& account, const Response& response);

// Sums by phase, for people.
std::vector<PhaseVolume> phase_volumes(const Account& account, const Response& response);

bool is_statistic(const SavedTensor& saved);
std::int64_t activation_bytes(const Response& response);  // shared elements once
std::int64_t statistics_bytes(const Response& response);

}  // namespace tpc
