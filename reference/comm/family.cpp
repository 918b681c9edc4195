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

CallSignature signature_of(CollectiveKind kind, const Tensor& operand, std::string detail = "") {
  return {name(kind), operand.count(), operand.dtype(), std::move(detail)};
}

void expect_one_dtype(CollectiveKind kind, const Tensor& a, const Tensor& b) {
  TPC_EXPECT(a && b, "{} without a tensor", name(kind));
  TPC_EXPECT(a.dtype() == b.dtype(), "{} from {} to {}", name(kind), name(a.dtype()), name(b.dtype()));
}

// `full` holds `size` shards along dim 0.
void expect_shards(CollectiveKind kind, const Tensor& full, const Tensor& shard, int size) {
  expect_one_dtype(kind, full, shard);
  Shape whole = shard.shape();
  if (!whole.empty()) whole[0] *= size;
  TPC_EXPECT(!whole.empty() && whole == full.shape(), "{} over {} ranks: shard {} and full {} do not fit",
             name(kind), size, to_string(shard.shape()), to_string(full.shape()));
}

}  // namespace

std::string to_string(const CallSignature& call) {
  if (call.what == "split" || call.what == "renew") return std::string(call.what);
  return fmt::format("{}{} of {} {}", call.what, call.detail.empty() ? "" : " (" + call.detail + ")",
                     call.count, name(call.dtype));
}

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

void FamilyCommunicator::copy_local(const Tensor& to, const Tensor& from) { copy_elements(to, from); }

Pending FamilyCommunicator::start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) {
  expect_one_dtype(CollectiveKind::all_reduce, out, in);
  TPC_EXPECT(out.shape() == in.shape(), "all_reduce of {} into {}", to_string(in.shape()),
             to_string(out.shape()));
  TPC_EXPECT(out.raw() == in.raw() || !overlap(out, in), "all_reduce between buffers that overlap in part");
  const auto call = signature_of(CollectiveKind::all_reduce, in, std::string(tpc::name(op)));
  record(call);
  if (size() > 1) return begin_all_reduce(call, out, in, op);
  copy_local(out, in);
  return {};
}

Pending FamilyCommunicator::start_all_gather(const Tensor& full, const Tensor& shard) {
  expect_shards(CollectiveKind::all_gather, full, shard, size());
  const auto call = signature_of(CollectiveKind::all_gather, shard);
  record(call);
  if (size() > 1) return begin_all_gather(call, full, shard);
  copy_local(full, shard);
  return {};
}

Pending FamilyCommunicator::start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) {
  expect_shards(CollectiveKind::reduce_scatter, full, shard, size());
  const auto call = signature_of(CollectiveKind::reduce_scatter, shard, std::string(tpc::name(op)));
  record(call);
  if (size() > 1) return begin_reduce_scatter(call, shard, full, op);
  copy_local(shard, full);
  return {};
}

Pending FamilyCommunicator::start_all_to_all(const Tensor& out, const Tensor& in) {
  expect_one_dtype(CollectiveKind::all_to_all, out, in);
  TPC_EXPECT(out.shape() == in.shape() && in.dims() > 0 && in.size(0) % size() == 0,
             "all_to_all over {} ranks of {} into {}", size(), to_string(in.shape()), to_string(out.shape()));
  const auto call = signature_of(CollectiveKind::all_to_all, in);
  record(call);
  if (size() > 1) return begin_all_to_all(call, out, in);
  copy_local(out, in);
  return {};
}

Pending FamilyCommunicator::start_broadcast(const Tensor& tensor, int root) {
  TPC_EXPECT(tensor && root >= 0 && root < size(), "broadcast from rank {} of {}", root, size());
  const auto call = signature_of(CollectiveKind::broadcast, tensor, fmt::format("root {}", root));
  record(call);
  if (size() > 1) return begin_broadcast(call, tensor, root);
  return {};
}

Pending FamilyCommunicator::start_messages(std::span<const Message> messages) {
  CallSignature call{.what = tpc::name(CollectiveKind::point_to_point)};
  for (const Message& message : messages) {
    TPC_EXPECT(message.tensor && message.peer >= 0 && message.peer < size(), "message with rank {} of {}",
               message.peer, size());
    call.count += message.tensor.count();
    call.dtype = message.tensor.dtype();
  }
  record(call);
  return begin_messages(messages);
}

}  // namespace tpc
