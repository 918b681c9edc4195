// SPDX-License-Identifier: Apache-2.0
#include "harness/values/account.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace tpc {

namespace {

std::string describe_call(const TraceRow& row) {
  return fmt::format("{} of {} {} on {} ({} ranks), payload {} B, ring wire {} B, in {} ({}{}{})",
                     name(row.kind), row.count, name(row.dtype), row.axis, row.group_size, row.payload,
                     row.ring_wire, name(row.phase), row.layer, row.layer.empty() ? "" : ": ", row.operation);
}

// 2(T-1)/T of a whole number: equal but for the order in which it is multiplied out.
bool same_bytes(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(a); }

bool same_call(const TraceRow& expected, const TraceRow& got) {
  const bool names_agree = (got.operation.empty() && got.layer.empty()) ||
                           (got.operation == expected.operation && got.layer == expected.layer);
  return names_agree && expected.kind == got.kind && expected.op == got.op && expected.axis == got.axis &&
         expected.group_size == got.group_size && expected.count == got.count &&
         expected.dtype == got.dtype && expected.payload == got.payload &&
         same_bytes(expected.ring_wire, got.ring_wire) && expected.phase == got.phase;
}

std::string trace_defect(const Trace& expected, const Trace& got, const std::string& profile) {
  const std::size_t common = std::min(expected.size(), got.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!same_call(expected[i], got[i]))
      return fmt::format("call {} of {} is not that of profile {}: expected {}, got {}", i + 1,
                         expected.size(), profile, describe_call(expected[i]), describe_call(got[i]));
  if (got.size() > common)
    return fmt::format("{} calls where profile {} has {}; the first too many is {}", got.size(), profile,
                       expected.size(), describe_call(got[common]));
  if (expected.size() > common)
    return fmt::format("{} calls where profile {} has {}; the first missing is {}", got.size(), profile,
                       expected.size(), describe_call(expected[common]));
  return {};
}

std::string count_defect(const Response& response) {
  if (!response.counted) return {};
  CountedCalls of_trace;
  for (const TraceRow& row : response.trace) {
    if (row.message && row.message->way == Message::Way::receive) continue;  // counted where it is sent
    CountedCall& entry = of_trace[fmt::format("{} {}", name(row.kind), row.axis)];
    ++entry.calls;
    entry.payload += row.payload;
  }
  for (const auto& [key, counted] : *response.counted)
    if (const auto traced = of_trace[key]; !(traced == counted))
      return fmt::format("the transport counted {} calls of {} B of '{}', the trace has {} calls of {} B",
                         counted.calls, counted.payload, key, traced.calls, traced.payload);
  for (const auto& [key, traced] : of_trace)
    if (traced.calls > 0 && !response.counted->contains(key))
      return fmt::format("the trace has {} calls of '{}' that the transport never saw", traced.calls, key);
  return {};
}

std::int64_t bytes_where(const Response& response, bool statistics) {
  std::set<const void*> seen;
  std::int64_t sum = 0;
  for (const SavedTensor& saved : response.saved)
    if (is_statistic(saved) == statistics &&
        (saved.elements == nullptr || seen.insert(saved.elements).second))
      sum += saved.bytes;
  return sum;
}

std::string memory_defect(const Account& account, const Response& response) {
  if (account.activation_bytes && activation_bytes(response) != *account.activation_bytes)
    return fmt::format("{} B of activations are kept for backward, {} B are what profile {} needs",
                       activation_bytes(response), *account.activation_bytes, account.profile);
  if (account.statistics_bytes && statistics_bytes(response) != *account.statistics_bytes)
    return fmt::format("{} B of statistics are kept for backward, {} B are what profile {} needs",
                       statistics_bytes(response), *account.statistics_bytes, account.profile);
  if (account.activation_bytes && response.live_bytes != response.saved_bytes)
    return fmt::format("{} B are reported as kept for backward, and {} B are still there after forward",
                       response.saved_bytes, response.live_bytes);
  return {};
}

}  // namespace

bool is_statistic(const SavedTensor& saved) { return saved.name.find("statistics.") != std::string::npos; }
std::int64_t activation_bytes(const Response& response) { return bytes_where(response, false); }
std::int64_t statistics_bytes(const Response& response) { return bytes_where(response, true); }

std::string account_defect(const Account& account, const Response& response) {
  std::string defect = trace_defect(account.calls, response.trace, account.profile);
  if (defect.empty()) defect = count_defect(response);
  if (defect.empty()) defect = memory_defect(account, response);
  return defect;
}

std::vector<PhaseVolume> phase_volumes(const Account& account, const Response& response) {
  std::vector<PhaseVolume> volumes;
  for (const Phase phase : {Phase::forward, Phase::backward, Phase::finalise}) {
    PhaseVolume sum{std::string(name(phase)), 0, 0, 0, 0};
    for (const TraceRow& row : response.trace) {
      if (row.phase != phase) continue;
      ++sum.calls;
      sum.payload += row.payload;
      sum.ring_wire += row.ring_wire;
    }
    for (const TraceRow& row : account.calls)
      if (row.phase == phase) sum.profile_payload += row.payload;
    if (sum.calls > 0 || sum.profile_payload > 0) volumes.push_back(std::move(sum));
  }
  return volumes;
}

}  // namespace tpc
