// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/family.hpp"

#include "reference/comm/buffers.hpp"

namespace tpc {

namespace {

std::string unused_name(const std::set<std::string>& used, const std::string& wanted) {
  std::string candidate = wanted;
  for (int i = 2; used.contains(candidate); ++i) candidate = fmt::format("{}#{}", wanted, i);
  return candidate;
}

}  // namespace

FamilyCommunicator::FamilyCommunicator(std::shared_ptr<Family> family, const std::string& wanted_name,
                                       std::vector<int> members, int rank)
    : family_(std::move(family)),
      name_(unused_name(family_->names, wanted_name)),
      members_(std::move(members)),
      rank_(rank) {
  family_->names.insert(name_);
  family_->log.groups[name_] = {members_, 0, 0};
}

FamilyCommunicator::~FamilyCommunicator() {
  CallLog& log = family_->log;
  family_->names.erase(name_);
  log.ended.emplace(name_, std::move(log.groups[name_]));
  log.groups.erase(name_);
}

CommunicatorPtr FamilyCommunicator::split(int /*colour*/, int /*key*/, const std::string& name) {
  TPC_EXPECT(false, "transport '{}' makes no group '{}'", transport(), name);
  return nullptr;
}

CommunicatorPtr FamilyCommunicator::renew(const std::string& name) { return split(0, rank_, name); }

void FamilyCommunicator::record(const CallSignature& call) {
  CallLog& log = family_->log;
  CallLog::Group& group = log.groups[name_];
  const bool moves_data = call.what != "split" && call.what != "renew";
  if (moves_data) ++log.collectives;
  const bool message = call.what == tpc::name(CollectiveKind::point_to_point);
  const std::int64_t number = message ? ++group.messages : ++group.calls;
  const std::string operand =
      moves_data ? fmt::format(" of {} {}", call.count, tpc::name(call.dtype)) : std::string();
  log.last = fmt::format("{}{} on {}, {} {}", call.what, operand, name_, message ? "batch" : "call", number);
}

Pending FamilyCommunicator::begin(const Call& call, const DeviceStream& after) {
  record(signature_of(call));
  const bool alone = size() == 1 && call.kind != CollectiveKind::point_to_point;
  return alone ? transfer_alone(call, after) : transfer(call, after);
}

Pending FamilyCommunicator::transfer_alone(const Call& call, const DeviceStream& /*after*/) {
  copy_elements(call.out, call.in);
  return {};
}

}  // namespace tpc
