// SPDX-License-Identifier: Apache-2.0
// The collectives that each rank made during one case: who never came to which call, and whether all members
// of every group made as many.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"

namespace tpc {

struct GroupCalls {
  std::string group;
  std::vector<int> members;
  std::int64_t calls = 0;
  bool operator==(const GroupCalls&) const = default;
};

// What one rank can say.
struct CallReport {
  std::vector<GroupCalls> groups;  // of more than one rank, with the calls of this case
  std::string last;                // the last collective
  std::string waiting_on;          // the group in which it gave up waiting
  std::int64_t collectives = 0;    // that moved data
};

// Takes the difference between the log at the start and at the end of a case.
class CaseCalls {
 public:
  explicit CaseCalls(CallLog& log);
  CallReport finish();

 private:
  CallLog& log_;
  std::map<std::string, std::int64_t> before_;
  std::int64_t collectives_before_;
};

// By rank; nothing from a rank that said nothing.
using CallReports = std::vector<std::optional<CallReport>>;

// Ranks that others waited for: those that said nothing, and members of a group somebody waited on that made
// fewer calls than the one who waited.
std::vector<int> ranks_not_arrived(const CallReports& reports);

// Empty where all members of every group made as many calls; else which did not.
std::string unequal_calls(const CallReports& reports);

// "rank 0: all_reduce of 64 f64 on tp, call 3; rank 1: none"
std::string last_collectives(const CallReports& reports);

std::string rank_list(const std::vector<int>& ranks);  // "ranks 0, 2", "rank 3", "none"

}  // namespace tpc
