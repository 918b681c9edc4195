// SPDX-License-Identifier: Apache-2.0
// Ring 2: the suites on ranks that are threads of this process, where the sanitizers see everything.
#include "reference/comm/local/local.hpp"

#include <gtest/gtest.h>

#include "harness/run/implementations.hpp"
#include "harness/run/runner/runner.hpp"
#include "suites/suites.hpp"

namespace tpc {
namespace {

// Every case of the suites that `ranks` threads can run and that `wanted` takes.
std::vector<Case> cases_for(int ranks, const std::function<bool(const Case&)>& wanted) {
  SuiteOptions options;
  options.world = ranks;
  options.tiers = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16};
  std::vector<Case> cases;
  for (Suite& suite : all_suites(options))
    for (Case& c : suite.cases)
      if (suite.name != "models" && ranks_of(c) <= ranks && wanted(c)) cases.push_back(std::move(c));
  return cases;
}

void expect_all_pass(int ranks, const std::vector<Case>& cases) {
  ASSERT_FALSE(cases.empty());
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const auto implementation = make_reference_implementation();
    const auto oracle = make_baseline_oracle(world->renew("baselines"), {});
    Runner runner(world, *implementation, *oracle, {});
    std::vector<const Case*> order;
    for (const Case& c : cases) order.push_back(&c);
    runner.plan(order);
    for (const Case& c : cases) {
      const Record record = runner.run(c);
      if (world->rank() == 0) {
        EXPECT_EQ(record.verdict, Outcome::pass) << full_name(c) << ": " << record.message;
      }
    }
  });
}

TEST(Suites, PassOnFourThreads) {
  expect_all_pass(4,
                  cases_for(4, [](const Case& c) { return c.tier == Tier::f64 || c.tier == Tier::exact; }));
}

TEST(Suites, PassOnThreeThreadsInNarrowFormats) {
  expect_all_pass(3, cases_for(3, [](const Case& c) {
                    return (c.tier == Tier::f32 || c.tier == Tier::bf16) && c.request.mesh.ranks() == 3;
                  }));
}

}  // namespace
}  // namespace tpc
