// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/dry_run/dry_run.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"
#include "reference/comm/trace.hpp"

namespace tpc {
namespace {

Tensor without_data(DType dtype, const Shape& shape) {
  auto storage = std::make_shared<Storage>();
  storage->bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  return {storage, dtype, shape};
}

// The same program, on tensors with and without elements.
Trace trace_of(const CommunicatorPtr& ranks, const std::function<Tensor(DType, const Shape&)>& make) {
  const Site site{.layer = "l", .operation = "o", .phase = Phase::forward};
  Trace trace;
  const auto traced = make_traced(ranks, site, trace);
  const int first = ranks->rank() / 2 * 2;
  const auto pair = traced->subgroup({first, first + 1}, "tp");
  const Tensor shard = make(DType::bf16, {3, 2});
  pair->all_gather(make(DType::bf16, {6, 2}), shard);
  pair->all_reduce(shard, shard, ReduceOp::sum);
  traced->reduce_scatter(make(DType::f32, {1}), make(DType::f32, {4}), ReduceOp::max);
  traced->broadcast(shard, 3);
  traced->all_to_all(make(DType::i64, {8}), make(DType::i64, {8}));
  return trace;
}

TEST(DryRun, TracesWhatARealRunTraces) {
  on_local_ranks(4, [](const CommunicatorPtr& ranks) {
    const auto host = [](DType dtype, const Shape& shape) { return host_tensor(dtype, shape); };
    const Trace real = trace_of(ranks, host);
    const Trace dry = trace_of(make_dry_run_world(ranks->rank(), 4), without_data);
    ASSERT_EQ(real.size(), 5U);
    EXPECT_EQ(real, dry);
  });
}

TEST(DryRun, GroupsKnowTheirRanks) {
  const auto world = make_dry_run_world(5, 8);
  const auto row = world->subgroup({4, 5, 6, 7}, "row");
  EXPECT_EQ(row->rank(), 1);
  const auto pair = row->subgroup({3, 1}, "pair");
  EXPECT_EQ(pair->rank(), 1);
  EXPECT_EQ(pair->log().groups.at("pair").members, (std::vector<int>{7, 5}));
  EXPECT_EQ(world->subgroup({}, "none"), nullptr);
}

TEST(DryRun, ChecksItsOperands) {
  const auto world = make_dry_run_world(0, 1000);
  EXPECT_THROW(world->split(0, 0, "tp"), ContractError);
  EXPECT_THROW(world->all_gather(without_data(DType::f32, {999}), without_data(DType::f32, {1})),
               ContractError);
  EXPECT_NO_THROW(world->all_gather(without_data(DType::f32, {1000}), without_data(DType::f32, {1})));
  EXPECT_THROW(make_dry_run_world(3, 3), ContractError);
}

}  // namespace
}  // namespace tpc
