// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/judge/baselines/exact_account.hpp"

namespace tpc {
namespace {

TEST(Deal, TheDearestFirst) {
  std::vector<BaselineCost> costs(5);
  const std::vector<double> operations = {1, 9, 2, 5, 4};
  for (std::size_t i = 0; i < 5; ++i) costs[i].operations = operations[i];
  EXPECT_EQ(deal(costs, 2), (std::vector<int>{1, 0, 0, 1, 1}));
  EXPECT_EQ(deal(costs, 1), std::vector<int>(5, 0));
}

TEST(Deal, BytesCountAsManyProblemsAtOnceAsThereAreRanks) {
  const std::vector<BaselineCost> costs = {{10, 100, 0}, {20, 300, 0}, {30, 200, 0}};
  EXPECT_EQ(bytes_while_solving(costs, 1), 360U);
  EXPECT_EQ(bytes_while_solving(costs, 2), 560U);
  EXPECT_EQ(bytes_while_solving(costs, 8), 660U);
}

TEST(Account, SumsOfCollectives) {
  Problem problem;
  problem.asked = CollectiveProblem{};
  problem.dtype = DType::bf16;
  problem.inputs = {{"in", {3, 4}, {Generator::Kind::constant, 96}}};
  EXPECT_EQ(collective_account(problem)[0].quanta, 9) << "three times three units of 32";
  problem.inputs[0].generator = {Generator::Kind::integers, 90, 100};
  EXPECT_NE(beyond_exact_range(DType::bf16, collective_account(problem)), "");
  EXPECT_EQ(beyond_exact_range(DType::f32, collective_account(problem)), "");
  problem.asked = CollectiveProblem{.op = ReduceOp::max};
  EXPECT_TRUE(collective_account(problem).empty());
  problem.asked = CollectiveProblem{.op = ReduceOp::product};
  problem.inputs[0].generator = {Generator::Kind::constant, 7};
  EXPECT_EQ(collective_account(problem)[0].quanta, 343);
}

TEST(Account, StatisticsStayInF32) {
  EXPECT_EQ(beyond_exact_range(DType::bf16, {{"statistics.loss", 1000}}), "");
  EXPECT_NE(beyond_exact_range(DType::bf16, {{"y", 1000}}), "");
  EXPECT_NE(beyond_exact_range(DType::bf16, {{"statistics.loss", 0x1p25}}), "");
  EXPECT_NE(beyond_exact_range(DType::f64, {{"y", HUGE_VAL}}), "");
  EXPECT_NE(beyond_exact_range(DType::f64, {{"y", NAN}}), "");
}

}  // namespace
}  // namespace tpc
