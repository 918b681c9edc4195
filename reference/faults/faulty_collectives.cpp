// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "reference/comm/buffers.hpp"
#include "reference/faults/edit.hpp"
#include "reference/faults/fault.hpp"
#include "reference/faults/faulty_communicator.hpp"
#include "reference/faults/forwarding_communicator.hpp"

namespace tpc {

namespace {

constexpr std::int64_t block_of_a_lone_rank = 4;
constexpr std::int64_t short_count = 256;
constexpr std::int64_t chunk = 4096;
constexpr std::size_t offset_limit = std::size_t{1} << 18U;
constexpr std::size_t line_bytes = 64;

std::byte* element(const Tensor& tensor, std::int64_t index) {
  return tensor.raw() + static_cast<std::size_t>(index) * size_of(tensor.dtype());
}

void copy_bytes(const Tensor& to, const Tensor& from, std::size_t bytes) {
  if (to.raw() != from.raw()) std::memmove(to.raw(), from.raw(), bytes);
}

// A library with defects. Layers never see it on one rank.
class FaultyCollectives : public ForwardingCommunicator {
 public:
  FaultyCollectives(CommunicatorPtr inner, const FaultSet& faults)
      : ForwardingCommunicator(std::move(inner)), faults_(faults) {}

  CommunicatorPtr subgroup(const std::vector<int>& members, const std::string& name) override {
    if (!planted(Fault::group_members_sorted)) return ForwardingCommunicator::subgroup(members, name);
    std::vector<int> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    return ForwardingCommunicator::subgroup(sorted, name);
  }

  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) override {
    ++calls_;
    if (in.raw() == nullptr || in.count() == 0) return inner().start_all_reduce(out, in, op);
    if (planted(Fault::every_rank_its_own_world)) return alone(out, in);
    if (size() == 1) return on_one_rank(out, in, op);
    if (planted(Fault::order_depends_on_calls)) return in_order(out, in, op, static_cast<int>(calls_));
    if (planted(Fault::order_depends_on_rank)) return in_order(out, in, op, rank());
    if (planted(Fault::unsigned_comparison) && in.dtype() == DType::i64) return unsigned_reduce(out, in, op);
    if (planted(Fault::operation_ignored_when_short) && in.count() <= short_count) op = ReduceOp::sum;
    const Tensor before = copy_of(out);
    const Tensor own = copy_of(in);
    lose_contribution(out, in);
    inner().all_reduce(out, in, op);
    leave_behind(out, before, own);
    return {};
  }

  Pending start_all_gather(const Tensor& full, const Tensor& shard) override {
    if (shard.raw() == nullptr) return inner().start_all_gather(full, shard);
    if (planted(Fault::every_rank_its_own_world)) return alone(own_rows(full), shard);
    const bool in_place = shard.raw() >= full.raw() && shard.raw() < full.raw() + full.bytes();
    if (planted(Fault::in_place_gather_reads_base) && in_place)
      return inner().start_all_gather(full, copy_of(full.rows(0, full.size(0) / size())));
    return inner().start_all_gather(full, shard);
  }

  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) override {
    if (shard.raw() != nullptr && planted(Fault::every_rank_its_own_world))
      return alone(shard, own_rows(full));
    return inner().start_reduce_scatter(shard, full, op);
  }

  Pending start_all_to_all(const Tensor& out, const Tensor& in) override {
    if (in.raw() != nullptr && planted(Fault::every_rank_its_own_world)) return alone(out, in);
    return inner().start_all_to_all(out, in);
  }

  Pending start_broadcast(const Tensor& tensor, int root) override {
    if (planted(Fault::every_rank_its_own_world)) return {};
    if (planted(Fault::root_read_as_world_rank)) root = rank_of_member(root);
    if (!planted(Fault::copy_in_16_bytes) || tensor.raw() == nullptr || rank() == root)
      return inner().start_broadcast(tensor, root);
    const Tensor before = copy_of(tensor);
    inner().broadcast(tensor, root);
    keep_tail(tensor, before);
    return {};
  }

  Pending start_messages(std::span<const Message> messages) override {
    if (!planted(Fault::copy_in_16_bytes)) return inner().start_messages(messages);
    std::vector<Tensor> before;
    for (const Message& message : messages) before.push_back(copy_of(message.tensor));
    inner().messages(messages);
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (messages[i].way == Message::Way::receive) keep_tail(messages[i].tensor, before[i]);
    return {};
  }

 protected:
  CommunicatorPtr wrap(CommunicatorPtr inner) const override {
    return std::make_shared<FaultyCollectives>(std::move(inner), faults_);
  }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }

  static Pending alone(const Tensor& out, const Tensor& in) {
    copy_bytes(out, in, in.bytes());
    return {};
  }
  Tensor own_rows(const Tensor& full) const {
    const std::int64_t rows = full.size(0) / size();
    return full.rows(rank() * rows, rows);
  }

  Pending on_one_rank(const Tensor& out, const Tensor& in, ReduceOp op) {
    if (!planted(Fault::single_rank_copy_in_blocks)) return inner().start_all_reduce(out, in, op);
    const std::int64_t whole = in.count() / block_of_a_lone_rank * block_of_a_lone_rank;
    copy_bytes(out, in, static_cast<std::size_t>(whole) * size_of(in.dtype()));
    return {};
  }

  // Every rank gets all operands and adds them up from the one of `first` on.
  Pending in_order(const Tensor& out, const Tensor& in, ReduceOp op, int first) {
    const Tensor all = host_tensor(in.dtype(), {size(), in.count()}, "operands");
    inner().all_gather(all, copy_of(in).reshaped({1, in.count()}));
    const Tensor sum = copy_of(all.rows(first % size(), 1));
    for (int i = 1; i < size(); ++i) reduce_into(sum, all.rows((first + i) % size(), 1), op);
    return alone(out, sum);
  }

  Pending unsigned_reduce(const Tensor& out, const Tensor& in, ReduceOp op) {
    constexpr auto sign = std::int64_t{1} << 62U;
    const auto turn = [&](const Tensor& tensor) {
      if (op != ReduceOp::max && op != ReduceOp::min) return;
      auto* const values = tensor.data<std::int64_t>();
      for (std::int64_t i = 0; i < tensor.count(); ++i) values[i] += values[i] < 0 ? sign : -sign;
    };
    const Tensor turned = copy_of(in);
    turn(turned);
    inner().all_reduce(turned, turned, op);
    turn(turned);
    return alone(out, turned);
  }

  void lose_contribution(const Tensor& out, const Tensor& in) const {
    if (planted(Fault::in_place_contribution_lost) && out.raw() == in.raw() && rank() == size() - 1)
      std::memset(in.raw(), 0, in.bytes());
  }

  // What does not arrive in the result.
  void leave_behind(const Tensor& out, const Tensor& before, const Tensor& own) const {
    const std::size_t width = size_of(out.dtype());
    if (planted(Fault::stale_half_line) && calls_ % 3 == 2 && out.bytes() >= line_bytes)
      std::memcpy(out.raw() + line_bytes / 2, before.raw() + line_bytes / 2, line_bytes / 2);
    if (planted(Fault::chunk_border_not_reduced))
      for (std::int64_t i = chunk; i < out.count(); i += chunk)
        std::memcpy(element(out, i), element(own, i), width);
    if (planted(Fault::offset_wraps) && out.bytes() > offset_limit) {
      std::memmove(out.raw(), out.raw() + offset_limit, out.bytes() - offset_limit);
      std::memcpy(out.raw() + offset_limit, before.raw() + offset_limit, out.bytes() - offset_limit);
    }
  }

  static void keep_tail(const Tensor& tensor, const Tensor& before) {
    const std::size_t whole = tensor.bytes() / 16 * 16;
    std::memcpy(tensor.raw() + whole, before.raw() + whole, tensor.bytes() - whole);
  }

  // Taken for a rank of the world where that is in the group.
  int rank_of_member(int root) {
    const std::vector<int>& members = log().groups[name()].members;
    const auto found = std::find(members.begin(), members.end(), root);
    return found == members.end() ? root : static_cast<int>(found - members.begin());
  }

  FaultSet faults_;
  std::int64_t calls_ = 0;
};

}  // namespace

CommunicatorPtr make_faulty_collectives(CommunicatorPtr inner, const FaultSet& faults) {
  return std::make_shared<FaultyCollectives>(std::move(inner), faults);
}

}  // namespace tpc
