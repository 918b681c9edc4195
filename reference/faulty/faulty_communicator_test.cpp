// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_communicator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/comm/local/local.hpp"
#include "reference/faulty/fault.hpp"

namespace tpc {
namespace {

constexpr int ranks = 3;
constexpr std::int64_t count = 6;

// What three ranks that hold 1, 10 and 100 make of a sum, at a site.
std::vector<double> sums(const FaultSet& faults, const Site& site) {
  std::vector<double> seen(ranks);
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    const CommunicatorPtr faulty = make_faulty(world, site, *compute, faults);
    const Tensor x = host_tensor(DType::f64, {count});
    for (std::int64_t i = 0; i < count; ++i) x.data<double>()[i] = std::pow(10, world->rank());
    faulty->all_reduce(x, x, ReduceOp::sum);
    seen[static_cast<std::size_t>(world->rank())] = x.data<double>()[0];
  });
  return seen;
}

using Values = std::vector<double>;
const Site at_entry{.layer = "fc1", .operation = "copy_to_tp", .phase = Phase::backward};
const Site at_exit{.layer = "fc2", .operation = "reduce_from_tp", .phase = Phase::forward};

TEST(FaultyCommunicator, IsTheInnerOneWhereNothingIsPlanted) {
  const CommunicatorPtr self = make_single_communicator();
  EXPECT_EQ(make_faulty(self, at_entry, *make_host_compute(), {}), self);
  EXPECT_EQ(sums({}, at_entry), (Values{111, 111, 111}));
}

TEST(FaultyCommunicator, ActsAtItsSiteAlone) {
  const FaultSet left_out(Fault::input_gradient_not_reduced);
  EXPECT_EQ(sums(left_out, at_entry), (Values{1, 10, 100}));
  EXPECT_EQ(sums(left_out, at_exit), (Values{111, 111, 111}));
  const FaultSet twice(Fault::input_gradient_reduced_twice);
  EXPECT_EQ(sums(twice, at_entry), (Values{333, 333, 333}));
  EXPECT_EQ(sums(twice, at_exit), (Values{111, 111, 111}));
}

TEST(FaultyCommunicator, LosesAContributionInPlace) {
  EXPECT_EQ(sums(FaultSet(Fault::in_place_contribution_lost), at_exit), (Values{11, 11, 11}));
}

TEST(FaultyCommunicator, LeavesEachRankToItself) {
  EXPECT_EQ(sums(FaultSet(Fault::every_rank_its_own_world), at_exit), (Values{1, 10, 100}));
}

TEST(FaultyCommunicator, HandsItsFaultsOnToGroups) {
  std::vector<double> seen(ranks);
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    const CommunicatorPtr faulty =
        make_faulty(world, at_entry, *compute, FaultSet(Fault::input_gradient_not_reduced));
    const CommunicatorPtr group = faulty->split(0, world->rank(), "group");
    const Tensor x = host_tensor(DType::f64, {1});
    x.data<double>()[0] = world->rank();
    group->all_reduce(x, x, ReduceOp::sum);
    seen[static_cast<std::size_t>(world->rank())] = x.data<double>()[0];
  });
  EXPECT_EQ(seen, (Values{0, 1, 2}));
}

}  // namespace
}  // namespace tpc
