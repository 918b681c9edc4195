// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "reference/comm/buffers.hpp"
#include "reference/comm/intercept.hpp"
#include "reference/faulty/edit.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/faulty/faulty_communicator.hpp"

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

// What one call of a library with defects comes to. Layers never see it on one rank.
class FaultyCall {
 public:
  // `number`: of the all_reduces of this communicator.
  FaultyCall(const FaultSet& faults, std::int64_t number, Communicator& inner, const Call& call,
             const DeviceStream& after)
      : faults_(faults),
        number_(number),
        inner_(inner),
        call_(call),
        after_(after),
        out_(call.out),
        in_(call.in) {}

  Pending start() {
    if (call_.kind == CollectiveKind::point_to_point) return point_to_point();
    if (in_.place() == Place::nowhere) return inner_.start(call_, after_);
    if (planted(Fault::every_rank_its_own_world) && call_.count() > 0) return alone();
    if (call_.kind == CollectiveKind::all_reduce && in_.count() > 0) return all_reduce();
    if (call_.kind == CollectiveKind::all_gather) return all_gather();
    if (call_.kind == CollectiveKind::broadcast) return broadcast();
    return inner_.start(call_, after_);
  }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }

  static Pending take(const Tensor& out, const Tensor& in) {
    copy_bytes(out, in, in.bytes());
    return {};
  }

  Pending alone() const {
    const auto own_rows = [&](const Tensor& full) {
      const std::int64_t rows = full.size(0) / inner_.size();
      return full.rows(inner_.rank() * rows, rows);
    };
    if (call_.kind == CollectiveKind::all_gather) return take(own_rows(out_), in_);
    if (call_.kind == CollectiveKind::reduce_scatter) return take(out_, own_rows(in_));
    return take(out_, in_);
  }

  Pending all_reduce() {
    ReduceOp op = call_.op;
    if (inner_.size() == 1) return on_one_rank();
    if (planted(Fault::order_depends_on_calls)) return in_order(static_cast<int>(number_));
    if (planted(Fault::order_depends_on_rank)) return in_order(inner_.rank());
    if (planted(Fault::unsigned_comparison) && in_.dtype() == DType::i64) return unsigned_reduce();
    if (planted(Fault::operation_ignored_when_short) && in_.count() <= short_count) op = ReduceOp::sum;
    const Tensor before = copy_of(out_);
    const Tensor own = copy_of(in_);
    lose_contribution();
    inner_.all_reduce(out_, in_, op);
    leave_behind(before, own);
    return {};
  }

  Pending all_gather() const {
    const bool in_place = in_.raw() >= out_.raw() && in_.raw() < out_.raw() + out_.bytes();
    if (!planted(Fault::in_place_gather_reads_base) || !in_place) return inner_.start(call_, after_);
    return inner_.start(Call::all_gather(out_, copy_of(out_.rows(0, out_.size(0) / inner_.size()))), after_);
  }

  Pending broadcast() const {
    const int root = planted(Fault::root_read_as_world_rank) ? rank_of_member(call_.root) : call_.root;
    const Tensor before = copy_of(out_);
    inner_.broadcast(out_, root);
    if (planted(Fault::copy_in_16_bytes) && inner_.rank() != root) keep_tail(out_, before);
    return {};
  }

  Pending point_to_point() const {
    if (!planted(Fault::copy_in_16_bytes)) return inner_.start(call_, after_);
    std::vector<Tensor> before;
    for (const Message& message : call_.messages) before.push_back(copy_of(message.tensor));
    inner_.run(call_);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (call_.messages[i].way == Message::Way::receive) keep_tail(call_.messages[i].tensor, before[i]);
    return {};
  }

  Pending on_one_rank() const {
    if (!planted(Fault::single_rank_copy_in_blocks)) return inner_.start(call_, after_);
    const std::int64_t whole = in_.count() / block_of_a_lone_rank * block_of_a_lone_rank;
    copy_bytes(out_, in_, static_cast<std::size_t>(whole) * size_of(in_.dtype()));
    return {};
  }

  // Every rank gets all operands and adds them up from the one of `first` on.
  Pending in_order(int first) const {
    const int ranks = inner_.size();
    const Tensor all = host_tensor(in_.dtype(), {ranks, in_.count()}, "operands");
    inner_.all_gather(all, copy_of(in_).reshaped({1, in_.count()}));
    const Tensor sum = copy_of(all.rows(first % ranks, 1));
    for (int i = 1; i < ranks; ++i) reduce_into(sum, all.rows((first + i) % ranks, 1), call_.op);
    return take(out_, sum);
  }

  Pending unsigned_reduce() const {
    constexpr auto sign = std::int64_t{1} << 62U;
    const auto turn = [&](const Tensor& tensor) {
      if (call_.op != ReduceOp::max && call_.op != ReduceOp::min) return;
      auto* const values = tensor.data<std::int64_t>();
      for (std::int64_t i = 0; i < tensor.count(); ++i) values[i] += values[i] < 0 ? sign : -sign;
    };
    const Tensor turned = copy_of(in_);
    turn(turned);
    inner_.all_reduce(turned, turned, call_.op);
    turn(turned);
    return take(out_, turned);
  }

  void lose_contribution() const {
    if (planted(Fault::in_place_contribution_lost) && out_.raw() == in_.raw() &&
        inner_.rank() == inner_.size() - 1)
      std::memset(in_.raw(), 0, in_.bytes());
  }

  // What does not arrive in the result.
  void leave_behind(const Tensor& before, const Tensor& own) const {
    const std::size_t width = size_of(out_.dtype());
    if (planted(Fault::stale_half_line) && number_ % 3 == 2 && out_.bytes() >= line_bytes)
      std::memcpy(out_.raw() + line_bytes / 2, before.raw() + line_bytes / 2, line_bytes / 2);
    if (planted(Fault::chunk_border_not_reduced))
      for (std::int64_t i = chunk; i < out_.count(); i += chunk)
        std::memcpy(element(out_, i), element(own, i), width);
    if (planted(Fault::offset_wraps) && out_.bytes() > offset_limit) {
      std::memmove(out_.raw(), out_.raw() + offset_limit, out_.bytes() - offset_limit);
      std::memcpy(out_.raw() + offset_limit, before.raw() + offset_limit, out_.bytes() - offset_limit);
    }
  }

  static void keep_tail(const Tensor& tensor, const Tensor& before) {
    const std::size_t whole = tensor.bytes() / 16 * 16;
    std::memcpy(tensor.raw() + whole, before.raw() + whole, tensor.bytes() - whole);
  }

  // Taken for a rank of the world where that is in the group.
  int rank_of_member(int root) const {
    const std::vector<int>& members = inner_.log().groups[inner_.name()].members;
    const auto found = std::find(members.begin(), members.end(), root);
    return found == members.end() ? root : static_cast<int>(found - members.begin());
  }

  const FaultSet& faults_;
  std::int64_t number_;
  Communicator& inner_;
  const Call& call_;
  const DeviceStream& after_;
  const Tensor& out_;
  const Tensor& in_;
};

std::vector<int> sorted(std::vector<int> members) {
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace

CommunicatorPtr make_faulty_collectives(CommunicatorPtr inner, const FaultSet& faults) {
  auto numbers = std::make_shared<std::map<std::string, std::int64_t>>();  // by communicator
  Interception library{
      .start = [faults, numbers](Communicator& group, const Call& call, const DeviceStream& after) {
        std::int64_t& number = (*numbers)[group.name()];
        if (call.kind == CollectiveKind::all_reduce) ++number;
        return FaultyCall(faults, number, group, call, after).start();
      }};
  if (faults.contains(Fault::group_members_sorted)) library.regroup = sorted;
  return intercept(std::move(inner), std::move(library));
}

}  // namespace tpc
