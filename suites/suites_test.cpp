// SPDX-License-Identifier: Apache-2.0
#include "suites/suites.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/front/coverage.hpp"

namespace tpc {
namespace {

SuiteOptions usual_options() {
  SuiteOptions options;
  options.world = 8;
  options.tiers = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16};
  return options;
}

TEST(Coverage, HasNoEmptyCell) {
  const std::vector<std::string> empty = empty_cells(all_suites(usual_options()));
  EXPECT_TRUE(empty.empty()) << empty.size() << " cells, the first: " << empty.front();
}

TEST(Coverage, EverySuiteHasAsManyCasesAsItPromises) {
  std::map<std::string, std::size_t> cases;
  std::set<std::string> names;
  for (const Suite& suite : all_suites(usual_options())) {
    cases[suite.name] = suite.cases.size();
    for (const Case& c : suite.cases) {
      EXPECT_TRUE(names.insert(full_name(c)).second) << full_name(c) << " is there twice";
      EXPECT_FALSE(c.statement.empty()) << full_name(c);
    }
  }
  const std::map<std::string, std::size_t> promised = {
      {"collectives", 60},   {"mesh", 20},    {"tensor_parallel", 120}, {"sequence_parallel", 80},
      {"loss_parallel", 40}, {"invalid", 20}, {"volume", 100},          {"memory", 40}};
  for (const auto& [suite, number] : promised) EXPECT_GE(cases[suite], number) << suite;
}

}  // namespace
}  // namespace tpc
