// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/collective_runner.hpp"

#include <algorithm>
#include <cstring>

#include "harness/judge/baselines/collective_answers.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "reference/faulty/faulty_communicator.hpp"

namespace tpc {

namespace {

// One rank's operands of one call, and how to make it.
class CallOnRank {
 public:
  // `place`: of the rank among the members that were asked for.
  CallOnRank(const Problem& problem, Communicator& group, int place)
      : problem_(problem), call_(*problem.collective()), group_(group), place_(place) {}

  // What the call leaves on this rank. Operands are drawn anew, since in place they are overwritten.
  Tensor make() {
    const Tensor in = operand();
    switch (call_.kind) {
      case CollectiveKind::all_reduce:
        return with(receive_like(in), [&](const Tensor& out) { group_.all_reduce(out, in, call_.op); });
      case CollectiveKind::all_to_all:
        return with(receive_like(in), [&](const Tensor& out) { group_.all_to_all(out, in); });
      case CollectiveKind::broadcast:
        return with(in, [&](const Tensor& out) { group_.broadcast(out, call_.root); });
      case CollectiveKind::all_gather:
        return all_gather(in);
      case CollectiveKind::reduce_scatter:
        return with(call_.in_place ? own_part(in) : fresh(call_.count),
                    [&](const Tensor& out) { group_.reduce_scatter(out, in, call_.op); });
      case CollectiveKind::point_to_point:
        return pass_on(in);
    }
    return in;
  }

 private:
  template <class F>
  static Tensor with(const Tensor& out, const F& call) {
    call(out);
    return out;
  }
  Tensor operand() const {
    const InputSpec& input = input_named(problem_, "in");
    return draw_tensor(problem_, input, {place_, 0}, {1, input.shape[1]}).reshaped({input.shape[1]});
  }
  Tensor fresh(std::int64_t count) const { return host_tensor(problem_.dtype, {count}, "out"); }
  Tensor receive_like(const Tensor& in) const { return call_.in_place ? in : fresh(in.count()); }
  Tensor own_part(const Tensor& full) const { return full.rows(group_.rank() * call_.count, call_.count); }

  Tensor all_gather(const Tensor& in) {
    const Tensor full = fresh(call_.count * group_.size());
    Tensor shard = in;
    if (call_.in_place) {
      shard = own_part(full);
      if (in.bytes() > 0) std::memcpy(shard.raw(), in.raw(), in.bytes());
    }
    group_.all_gather(full, shard);
    return full;
  }
  Tensor pass_on(const Tensor& in) {
    const Tensor out = fresh(call_.count);
    const int next = (group_.rank() + 1) % group_.size();
    const int previous = (group_.rank() + group_.size() - 1) % group_.size();
    group_.messages({{Message::Way::send, next, in}, {Message::Way::receive, previous, out}});
    return out;
  }

  const Problem& problem_;
  const CollectiveProblem& call_;
  Communicator& group_;
  int place_;
};

std::int64_t unequal_elements(const Tensor& a, const Tensor& b) {
  const std::size_t size = size_of(a.dtype());
  std::int64_t unequal = 0;
  for (std::size_t at = 0; at < a.bytes(); at += size)
    if (std::memcmp(a.raw() + at, b.raw() + at, size) != 0) ++unequal;
  return unequal;
}

Tensor one_number(DType dtype, std::int64_t value) {
  const Tensor tensor = host_tensor(dtype, {1}, "unequal");
  visit_any(dtype, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bf16>)
      *tensor.data<T>() = bf16(static_cast<float>(value));
    else
      *tensor.data<T>() = static_cast<T>(value);
  });
  return tensor;
}

CommunicatorPtr group_of(const CollectiveProblem& call, const CommunicatorPtr& ranks) {
  if (call.members.empty()) return ranks;
  const bool member =
      std::find(call.members.begin(), call.members.end(), ranks->rank()) != call.members.end();
  return ranks->subgroup(member ? call.members : std::vector<int>{}, "group");
}

// The order in which members were asked for decides who is who, whatever the group makes of it.
int place_among(const CollectiveProblem& call, int rank) {
  const auto found = std::find(call.members.begin(), call.members.end(), rank);
  return call.members.empty() ? rank : static_cast<int>(found - call.members.begin());
}

}  // namespace

Response run_collective(const Request& request, const CommunicatorPtr& ranks, const FaultSet& faults) {
  validate(request.mesh, ranks->size());
  const CollectiveProblem& call = *request.problem.collective();
  Response response;
  response.status = Response::Status::result;
  const Site site{.layer = "", .operation = "collective", .phase = Phase::forward};
  const CommunicatorPtr group =
      group_of(call, make_faulty_collectives(make_traced(ranks, site, response.trace), faults));
  if (!group) return response;

  const int place = place_among(call, ranks->rank());
  CallOnRank on_rank(request.problem, *group, place);
  const Tensor first = on_rank.make();
  Tensor last = first;
  std::int64_t unequal = 0;
  for (int repeat = 1; repeat < call.repeats; ++repeat) {
    last = on_rank.make();
    unequal += unequal_elements(first, last);
  }

  const int size = group->size();
  const Shape out = collective_output_shape(call, size);
  response.tensors.push_back({"out", last.reshaped({1, out[1]}), shard(out, 0, place, size)});
  if (call.repeats == 1) return response;
  response.tensors.push_back(
      {"unequal", one_number(request.problem.dtype, unequal), shard({size}, 0, place, size)});
  if (result_is_replicated(call.kind)) response.tensors.push_back({"copies", last, replicate({out[1]})});
  return response;
}

}  // namespace tpc
