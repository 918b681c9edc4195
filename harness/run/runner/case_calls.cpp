// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/case_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/values/join.hpp"

namespace tpc {

namespace {

using Key = std::pair<std::string, std::vector<int>>;

std::int64_t calls_in(const CallReport& report, const Key& key) {
  std::int64_t calls = 0;
  for (const GroupCalls& group : report.groups)
    if (group.group == key.first && group.members == key.second) calls += group.calls;
  return calls;
}

std::string tell_unequal(const Key& key, const CallReports& reports) {
  std::vector<std::string> counts;
  for (const int member : key.second) {
    const auto& report = reports.at(static_cast<std::size_t>(member));
    const std::string calls = report ? std::to_string(calls_in(*report, key)) : "not known";
    counts.push_back(fmt::format("rank {}: {}", member, calls));
  }
  return fmt::format("unequal numbers of calls on {} of {} ({})", key.first, rank_list(key.second),
                     joined(counts, ", "));
}

}  // namespace

CaseCalls::CaseCalls(CallLog& log) : log_(log), collectives_before_(log.collectives) {
  log_.ended.clear();
  log_.last.clear();
  log_.waiting_on.clear();
  for (const auto& [group, calls] : log_.groups) before_[group] = calls.calls;
}

CallReport CaseCalls::finish() {
  CallReport report;
  report.last = log_.last;
  report.waiting_on = log_.waiting_on;
  report.collectives = log_.collectives - collectives_before_;
  const auto add = [&](const std::string& name, const CallLog::Group& group, std::int64_t before) {
    if (group.members.size() > 1 && group.calls > before)
      report.groups.push_back({name, group.members, group.calls - before});
  };
  for (const auto& [name, group] : log_.groups) {
    const auto before = before_.find(name);
    add(name, group, before == before_.end() ? 0 : before->second);
  }
  for (const auto& [name, group] : log_.ended) add(name, group, 0);
  log_.ended.clear();
  return report;
}

std::vector<int> ranks_not_arrived(const CallReports& reports) {
  std::set<int> missing;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    if (!reports[r]) {
      missing.insert(static_cast<int>(r));
      continue;
    }
    for (const GroupCalls& group : reports[r]->groups) {
      if (group.group != reports[r]->waiting_on) continue;
      for (const int member : group.members) {
        const auto& other = reports.at(static_cast<std::size_t>(member));
        if (!other || calls_in(*other, {group.group, group.members}) < group.calls) missing.insert(member);
      }
    }
  }
  return {missing.begin(), missing.end()};
}

std::string unequal_calls(const CallReports& reports) {
  std::set<Key> groups;
  for (const auto& report : reports)
    if (report)
      for (const GroupCalls& group : report->groups) groups.insert({group.group, group.members});
  for (const Key& key : groups) {
    std::set<std::int64_t> counts;
    for (const int member : key.second)
      if (const auto& report = reports.at(static_cast<std::size_t>(member)))
        counts.insert(calls_in(*report, key));
    if (counts.size() > 1) return tell_unequal(key, reports);
  }
  return {};
}

std::string last_collectives(const CallReports& reports) {
  std::vector<std::string> ranks;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    const std::string last = !reports[r] ? "not known" : reports[r]->last.empty() ? "none" : reports[r]->last;
    ranks.push_back(fmt::format("rank {}: {}", r, last));
  }
  return joined(ranks, "; ");
}

std::string rank_list(const std::vector<int>& ranks) {
  if (ranks.empty()) return "none";
  return fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "", joined(ranks, ", "));
}

}  // namespace tpc
