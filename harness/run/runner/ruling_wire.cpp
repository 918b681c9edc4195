// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/ruling.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

void put_calls(Packer& packer, const CallReport& calls) {
  packer.put_all(calls.groups, [](Packer& p, const GroupCalls& group) {
    p.put(group.group).put_all(group.members, [](Packer& q, int member) { q.put(member); }).put(group.calls);
  });
  packer.put(calls.last).put(calls.waiting_on).put(calls.collectives);
}

CallReport get_calls(Unpacker& unpacker) {
  CallReport calls;
  calls.groups = unpacker.all<GroupCalls>([](Unpacker& u) {
    GroupCalls group;
    group.group = u.text();
    group.members = u.all<int>([](Unpacker& v) { return v.get<int>(); });
    group.calls = u.get<std::int64_t>();
    return group;
  });
  calls.last = unpacker.text();
  calls.waiting_on = unpacker.text();
  calls.collectives = unpacker.get<std::int64_t>();
  return calls;
}

}  // namespace

std::string pack(const RankReport& report) {
  Packer packer;
  packer.put(report.how).put(report.reason);
  put_calls(packer, report.calls);
  const Comparison& comparison = report.comparison;
  packer.put(comparison.verdict)
      .put(comparison.worst_ratio)
      .put(comparison.worst_tensor)
      .put(comparison.message)
      .put(comparison.note)
      .put(comparison.tests);
  return packer.bytes();
}

RankReport unpack_report(const std::string& bytes) {
  Unpacker unpacker(bytes);
  RankReport report;
  report.how = unpacker.get<RankReport::How>();
  report.reason = unpacker.text();
  report.calls = get_calls(unpacker);
  report.comparison.verdict = unpacker.get<Verdict>();
  report.comparison.worst_ratio = unpacker.get<double>();
  report.comparison.worst_tensor = unpacker.text();
  report.comparison.message = unpacker.text();
  report.comparison.note = unpacker.text();
  report.comparison.tests = unpacker.get<std::int64_t>();
  return report;
}

std::string pack(const Ruling& ruling) {
  Packer packer;
  packer.put(ruling.go_on).put(ruling.verdict).put(ruling.worst_ratio.has_value());
  packer.put(ruling.worst_ratio.value_or(0))
      .put(ruling.message)
      .put(ruling.note)
      .put(ruling.tests)
      .put(ruling.broken);
  const Stop stop = ruling.stop.value_or(Stop{});
  packer.put(ruling.stop.has_value()).put(stop.code).put(stop.reason).put(stop.at_once).put(ruling.seconds);
  return packer.bytes();
}

Ruling unpack_ruling(const std::string& bytes) {
  Unpacker unpacker(bytes);
  Ruling ruling;
  ruling.go_on = unpacker.get<bool>();
  ruling.verdict = unpacker.get<Outcome>();
  const bool has_ratio = unpacker.get<bool>();
  const auto ratio = unpacker.get<double>();
  if (has_ratio) ruling.worst_ratio = ratio;
  ruling.message = unpacker.text();
  ruling.note = unpacker.text();
  ruling.tests = unpacker.get<std::int64_t>();
  ruling.broken = unpacker.get<bool>();
  const bool stops = unpacker.get<bool>();
  Stop stop;
  stop.code = unpacker.get<int>();
  stop.reason = unpacker.text();
  stop.at_once = unpacker.get<bool>();
  if (stops) ruling.stop = stop;
  ruling.seconds = unpacker.get<double>();
  return ruling;
}

}  // namespace tpc
