// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "harness/explain/faults/kill_matrix.hpp"
#include "suites/suites.hpp"

namespace tpc {
namespace {

SuiteOptions default_options() {
  SuiteOptions options;
  options.tiers = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16, Tier::statistics};
  options.world = 8;
  return options;
}

TEST(Faults, EachHasCasesThatCouldSeeIt) {
  const std::vector<Suite> suites = all_suites(default_options());
  for (const FaultRow& row : fault_table())
    EXPECT_FALSE(cases_for(row, suites, 8).empty()) << row.id << ": " << row.title;
}

}  // namespace
}  // namespace tpc
