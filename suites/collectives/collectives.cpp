// SPDX-License-Identifier: Apache-2.0
// Claim: every operation of the communicator gives every rank what it must, for every dtype, reduce
// operation, size and root, in and out of place, in any group, and again with the same bits.
#include <algorithm>
#include <set>

#include "harness/judge/inputs/probes.hpp"
#include "suites/collectives/calls.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

constexpr CollectiveKind all_kinds[] = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                        CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                        CollectiveKind::broadcast,      CollectiveKind::point_to_point};
constexpr CollectiveKind reductions[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter};
constexpr CollectiveKind movements[] = {CollectiveKind::all_gather, CollectiveKind::all_to_all,
                                        CollectiveKind::broadcast, CollectiveKind::point_to_point};
constexpr DType wire_dtypes[] = {DType::f64, DType::f32, DType::bf16, DType::i64};
constexpr ReduceOp reduce_ops[] = {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product};
constexpr int degrees[] = {1, 2, 3, 4, 6, 8};

// Every reduce operation in every dtype; degrees, counts and placement take turns.
void add_operations(std::vector<CallCase>& calls) {
  constexpr int turns[] = {8, 3, 2, 6, 4};
  constexpr std::int64_t counts[] = {65, 1, 64, 1023, 7, 4097, 129};
  std::size_t turn = 0;
  const auto add = [&](CollectiveKind kind, DType dtype, ReduceOp op) {
    const bool may_be_in_place = kind != CollectiveKind::broadcast && kind != CollectiveKind::point_to_point;
    calls.push_back({.kind = kind,
                     .tp = turns[turn % std::size(turns)],
                     .dtype = dtype,
                     .count = counts[turn % std::size(counts)],
                     .op = op,
                     .data = natural_data(kind),
                     .in_place = may_be_in_place && turn % 2 == 1});
    ++turn;
  };
  for (const CollectiveKind kind : reductions)
    for (const DType dtype : wire_dtypes)
      for (const ReduceOp op : reduce_ops) add(kind, dtype, op);
  for (const CollectiveKind kind : movements)
    for (const DType dtype : wire_dtypes) add(kind, dtype, ReduceOp::sum);
}

void add_degrees(std::vector<CallCase>& calls) {
  for (const CollectiveKind kind : all_kinds)
    for (const int tp : degrees)
      calls.push_back({.kind = kind, .tp = tp, .dtype = DType::f64, .count = 24, .data = natural_data(kind)});
}

// Nothing, one element, fewer than ranks, one more and one less than powers of two, many messages' worth.
void add_counts(std::vector<CallCase>& calls) {
  for (const std::int64_t count : {0, 1, 2, 7, 8, 9, 255, 256, 257, 32767, 65537})
    calls.push_back({.kind = CollectiveKind::all_reduce, .tp = 8, .dtype = DType::f32, .count = count});
  for (const CollectiveKind kind : all_kinds)
    for (const std::int64_t count : {0, 1, 8193})
      calls.push_back(
          {.kind = kind, .tp = 3, .dtype = DType::bf16, .count = count, .data = natural_data(kind)});
}

void add_roots_and_places(std::vector<CallCase>& calls) {
  const auto broadcast = [&](int tp, int root) {
    calls.push_back({.kind = CollectiveKind::broadcast,
                     .tp = tp,
                     .dtype = DType::f32,
                     .count = 33,
                     .data = CallData::provenance,
                     .root = root});
  };
  broadcast(2, 1);
  broadcast(3, 2);
  broadcast(6, 5);
  broadcast(8, 3);
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
    for (const int tp : {1, 4, 8})
      calls.push_back({.kind = kind,
                       .tp = tp,
                       .dtype = DType::f64,
                       .count = 31,
                       .data = natural_data(kind),
                       .in_place = true});
}

void add_groups(std::vector<CallCase>& calls) {
  const std::vector<std::pair<int, std::vector<int>>> groups = {
      {2, {1}}, {3, {1, 2}}, {8, {1, 3, 5, 7}}, {8, {7, 2, 4}}};
  for (const auto& [tp, members] : groups)
    for (const CollectiveKind kind : all_kinds)
      calls.push_back({.kind = kind,
                       .tp = tp,
                       .dtype = DType::f64,
                       .count = 17,
                       .data = natural_data(kind),
                       .root = kind == CollectiveKind::broadcast ? static_cast<int>(members.size()) - 1 : 0,
                       .members = members});
}

// Sums that depend on the order of their terms: the order must be the same every time and everywhere.
void add_repeats(std::vector<CallCase>& calls) {
  for (const CollectiveKind kind : reductions)
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
      for (const int tp : {2, 3, 8})
        calls.push_back({.kind = kind,
                         .tp = tp,
                         .dtype = dtype,
                         .count = 1537,
                         .data = CallData::gaussian,
                         .in_place = tp == 3,
                         .repeats = 20});
  for (const CollectiveKind kind : reductions)
    for (const int tp : {3, 8})
      calls.push_back({.kind = kind,
                       .tp = tp,
                       .dtype = DType::f64,
                       .count = 129,
                       .data = CallData::thirds,
                       .repeats = 20});
  for (const CollectiveKind kind : all_kinds)
    calls.push_back(
        {.kind = kind, .tp = 6, .dtype = DType::i64, .count = 65, .data = natural_data(kind), .repeats = 20});
}

void add_probes(std::vector<CallCase>& calls) {
  for (const CollectiveKind kind : reductions) {
    for (const DType dtype : wire_dtypes)
      for (const int tp : {3, 8})
        calls.push_back(
            {.kind = kind, .tp = tp, .dtype = dtype, .count = 67, .data = CallData::contribution});
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
      calls.push_back({.kind = kind,
                       .tp = std::min(8, contributors_in_a_sum(dtype)),
                       .dtype = dtype,
                       .count = 5,
                       .data = CallData::counted});
  }
}

}  // namespace

Suite collectives_suite(const SuiteOptions& options) {
  std::vector<CallCase> calls;
  add_operations(calls);
  add_degrees(calls);
  add_counts(calls);
  add_roots_and_places(calls);
  add_groups(calls);
  add_repeats(calls);
  add_probes(calls);

  Suite suite{"collectives", {}, {}};
  std::set<std::string> seen;
  for (const CallCase& call : calls) {
    Case c = collective_case(call, options.seed);
    const bool wanted = std::find(options.tp.begin(), options.tp.end(), call.tp) != options.tp.end() &&
                        (!options.tiers_given || std::find(options.tiers.begin(), options.tiers.end(),
                                                           c.tier) != options.tiers.end());
    if (wanted && seen.insert(c.name).second) suite.cases.push_back(std::move(c));
  }
  return suite;
}

}  // namespace tpc
