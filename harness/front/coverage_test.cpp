// SPDX-License-Identifier: Apache-2.0
#include "harness/front/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tpc {
namespace {

Case covered_case(Operation operation, int tp, SequenceParallel mode, Tier tier) {
  Case c;
  c.suite = "s";
  c.request.problem.asked = operation;
  c.request.mesh = {{tp}, {"tp"}};
  c.request.sharding.sequence_parallel = mode;
  c.tier = tier;
  return c;
}

TEST(Coverage, EveryCellIsEmptyWhereThereIsNothing) {
  EXPECT_EQ(empty_cells({}).size(), 10U * 6U * 3U * 4U);
  EXPECT_NE(coverage_table({}).find("EMPTY"), std::string::npos);
}

TEST(Coverage, ACaseFillsItsCellAlone) {
  const Suite suite{"s", {covered_case(Operation::mlp, 3, SequenceParallel::kept, Tier::f32)}, {}};

  const auto empty = empty_cells({suite});

  EXPECT_EQ(empty.size(), 719U);
  EXPECT_EQ(std::count(empty.begin(), empty.end(), "mlp at T=3, sequence parallel kept, tier f32"), 0);
  EXPECT_EQ(std::count(empty.begin(), empty.end(), "mlp at T=3, sequence parallel kept, tier f64"), 1);
}

TEST(Coverage, ARefusalFillsNothing) {
  Case c = covered_case(Operation::mlp, 3, SequenceParallel::kept, Tier::f32);
  c.expectation = Expectation::refusal;

  EXPECT_EQ(empty_cells({{"s", {c}, {}}}).size(), 720U);
}

TEST(Coverage, AReasonFillsAllCellsItSpeaksOf) {
  const Suite suite{"s", {}, {{"model", "", "exact", 0, "blocks are no exact arithmetic"}}};

  EXPECT_EQ(empty_cells({suite}).size(), 720U - 6U * 3U);
  EXPECT_NE(coverage_table({suite}).find("  a: blocks are no exact arithmetic\n"), std::string::npos);
  EXPECT_EQ(empty_cells({{"s", {}, {{"", "", "", 0, "none"}}}}).size(), 0U);
}

TEST(Coverage, CountsTheCasesOfEachSuiteByRanks) {
  const Case c = covered_case(Operation::mlp, 3, SequenceParallel::kept, Tier::f32);

  const std::string table = coverage_table({{"s", {c, c}, {}}});

  EXPECT_NE(table.find("suite                  cases   R=3"), std::string::npos) << table;
  EXPECT_NE(table.find("s                          2     2\n"), std::string::npos) << table;
}

}  // namespace
}  // namespace tpc
