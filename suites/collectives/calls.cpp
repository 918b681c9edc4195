// SPDX-License-Identifier: Apache-2.0
#include "suites/collectives/calls.hpp"

#include "harness/judge/baselines/collective_answers.hpp"

namespace tpc {

namespace {

int group_size(const CallCase& call) {
  return call.members.empty() ? call.tp : static_cast<int>(call.members.size());
}

// The largest whole numbers of which 8 add up, or multiply, exactly (bf16 counts to 256).
Generator whole_numbers(DType dtype, ReduceOp op) {
  const auto up_to = [](double limit, int exponent) {
    return Generator{.kind = Generator::Kind::integers, .a = -limit, .b = limit, .exponent = exponent};
  };
  if (op == ReduceOp::product) return up_to(dtype == DType::bf16 ? 2 : 3, 0);
  switch (dtype) {
    case DType::f64:
      return up_to(0x1p30, -12);
    case DType::f32:
      return up_to(0x1p20, -8);
    case DType::bf16:
      return up_to(31, -3);
    default:
      return up_to(0x1p30, 0);
  }
}

Generator generator_of(const CallCase& call) {
  switch (call.data) {
    case CallData::whole:
      return whole_numbers(call.dtype, call.op);
    case CallData::provenance:
      return {.kind = Generator::Kind::provenance};
    case CallData::contribution:
      return {.kind = Generator::Kind::contribution};
    case CallData::counted:
      return {.kind = Generator::Kind::contribution, .a = 16};
    case CallData::gaussian:
      return {.kind = Generator::Kind::gaussian, .a = 0.5, .b = 1};
    case CallData::thirds:
      return {.kind = Generator::Kind::gaussian, .a = 0.5, .b = 1.0 / 3};
  }
  return {};
}

std::string name_of(const CallCase& call) {
  std::string text = fmt::format("{}/tp{}_{}", name(call.kind), call.tp, name(call.dtype));
  if (reduces(call.kind)) text += fmt::format("_{}", name(call.op));
  text += fmt::format("_n{}", call.count);
  if (call.data == CallData::contribution) text += "_contribution";
  if (call.data == CallData::counted) text += "_counted";
  if (call.data == CallData::thirds) text += "_thirds";
  if (call.root > 0) text += fmt::format("_root{}", call.root);
  if (call.in_place) text += "_in_place";
  if (!call.members.empty()) {
    text += "_group";
    for (const int member : call.members) text += fmt::format("_{}", member);
  }
  if (call.repeats > 1) text += fmt::format("_repeated{}", call.repeats);
  return text;
}

std::string outcome_of(const CallCase& call) {
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      return fmt::format("every rank gets the {} over all ranks", name(call.op));
    case CollectiveKind::reduce_scatter:
      return fmt::format("every rank gets its part of the {} over all ranks", name(call.op));
    case CollectiveKind::all_gather:
      return "every rank gets the parts of all ranks in the order of the ranks";
    case CollectiveKind::all_to_all:
      return "every rank gets the part meant for it from each rank, in the order of the ranks";
    case CollectiveKind::broadcast:
      return fmt::format("every rank gets what rank {} has", call.root);
    case CollectiveKind::point_to_point:
      return "every rank gets what the rank before it has sent";
  }
  return {};
}

std::string statement_of(const CallCase& call) {
  const std::string group = call.members.empty() ? fmt::format("{} ranks", call.tp)
                                                 : fmt::format("{} of {} ranks, in an order of their own",
                                                               group_size(call), call.tp);
  std::string text = fmt::format("{} of {} {} over {}{}: {}", name(call.kind), call.count, name(call.dtype),
                                 group, call.in_place ? ", in place" : "", outcome_of(call));
  if (call.repeats > 1)
    text += fmt::format("; {} repeats agree in every bit, and all ranks with them", call.repeats);
  return text;
}

Tier tier_of(const CallCase& call) {
  if (call.data != CallData::gaussian && call.data != CallData::thirds) return Tier::exact;
  return call.dtype == DType::f32 ? Tier::f32 : call.dtype == DType::bf16 ? Tier::bf16 : Tier::f64;
}

}  // namespace

CallData natural_data(CollectiveKind kind) { return reduces(kind) ? CallData::whole : CallData::provenance; }

Case collective_case(const CallCase& call, std::uint64_t seed) {
  Case c;
  c.suite = "collectives";
  c.name = name_of(call);
  c.tier = tier_of(call);
  c.statement = statement_of(call);
  c.request.mesh = {{call.tp}, {"tp"}};
  c.request.script = {Action::forward};
  Problem& problem = c.request.problem;
  problem.dtype = call.dtype;
  problem.seed = seed;
  const CollectiveProblem asked{.kind = call.kind,
                                .op = call.op,
                                .count = call.count,
                                .root = call.root,
                                .in_place = call.in_place,
                                .repeats = call.repeats,
                                .members = call.members};
  problem.asked = asked;
  problem.inputs = {{"in", collective_input_shape(asked, group_size(call)), generator_of(call)}};
  return c;
}

}  // namespace tpc
