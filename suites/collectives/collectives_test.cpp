// SPDX-License-Identifier: Apache-2.0
// The collectives and mesh suites over threads: the reference passes them, and they notice who is wrong.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/judge/oracle.hpp"
#include "harness/run/implementations.hpp"
#include "harness/run/runner/runner.hpp"
#include "reference/comm/local/local.hpp"
#include "suites/suites.hpp"

namespace tpc {
namespace {

std::map<int, std::vector<Case>> by_ranks(const Suite& suite) {
  std::map<int, std::vector<Case>> sorted;
  for (const Case& c : suite.cases) sorted[ranks_of(c)].push_back(c);
  return sorted;
}

// "pass", or what is wrong.
std::string outcome(const Case& c, Oracle& oracle, Implementation& implementation,
                    const CommunicatorPtr& ranks) {
  const Response response = implementation.run(c.request, ranks);
  if (c.expectation == Expectation::refusal) {
    if (response.status != Response::Status::refused) return "was not refused";
    for (const std::string& word : c.reason_words)
      if (response.reason.find(word) == std::string::npos) return response.reason + " lacks " + word;
    return "pass";
  }
  if (response.status != Response::Status::result) return response.reason;
  const Comparison comparison = oracle.judge(c, response.tensors, *ranks);
  return comparison.verdict == Verdict::pass ? "pass" : comparison.message;
}

void judge_all(const std::vector<Case>& cases, int size, Completion completion,
               const std::function<void(const Case&, const std::string&)>& take) {
  on_local_ranks(
      size,
      [&](const CommunicatorPtr& ranks) {
        const auto implementation = make_reference_implementation();
        const auto oracle = make_baseline_oracle(ranks->renew("baselines"), {});
        for (const Case& c : cases) {
          const std::vector<const Case*> wanted = {&c};
          oracle->prepare(wanted, *implementation, std::chrono::steady_clock::time_point::max());
          const bool answered = c.expectation != Expectation::refusal;  // what cannot be has no baseline
          const std::string defect = answered && oracle->has(c) ? oracle->defect(c) : "";
          const std::string text =
              defect.empty() ? outcome(c, *oracle, *implementation, ranks) : "defect: " + defect;
          if (ranks->rank() == 0) take(c, text);
        }
      },
      completion);
}

void expect_all_pass(const Suite& suite, Completion completion) {
  for (const auto& [size, cases] : by_ranks(suite))
    judge_all(cases, size, completion,
              [](const Case& c, const std::string& text) { EXPECT_EQ(text, "pass") << full_name(c); });
}

TEST(CollectivesSuite, ThreadsPass) { expect_all_pass(collectives_suite({}), Completion::prompt); }
TEST(CollectivesSuite, LateThreadsPass) { expect_all_pass(collectives_suite({}), Completion::late); }
TEST(MeshSuite, ThreadsPass) { expect_all_pass(mesh_suite({}), Completion::prompt); }

TEST(CollectivesSuite, IsAsLargeAsPromised) {
  for (const auto& [suite, least] : {std::pair{collectives_suite({}), 60U}, std::pair{mesh_suite({}), 20U}}) {
    EXPECT_GE(suite.cases.size(), least) << suite.name;
    std::set<std::string> names;
    for (const Case& c : suite.cases) {
      EXPECT_TRUE(names.insert(c.name).second) << c.name;
      EXPECT_FALSE(c.statement.empty()) << c.name;
    }
  }
}

TEST(CollectivesSuite, EveryKindHasEveryDegreeAndDtype) {
  std::set<std::string> seen;
  for (const Case& c : collectives_suite({}).cases) {
    const Problem& p = c.request.problem;
    seen.insert(fmt::format("{} tp{}", name(p.collective()->kind), c.request.mesh.ranks()));
    seen.insert(fmt::format("{} {} {}", name(p.collective()->kind), name(p.collective()->op), name(p.dtype)));
  }
  for (const char* kind :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "point_to_point"}) {
    for (const int tp : {1, 2, 3, 4, 6, 8}) EXPECT_TRUE(seen.contains(fmt::format("{} tp{}", kind, tp)));
    for (const char* dtype : {"f64", "f32", "bf16", "i64"})
      EXPECT_TRUE(seen.contains(fmt::format("{} sum {}", kind, dtype))) << kind << dtype;
  }
  for (const char* kind : {"all_reduce", "reduce_scatter"})
    for (const char* op : {"sum", "max", "min", "product"})
      for (const char* dtype : {"f64", "f32", "bf16", "i64"})
        EXPECT_TRUE(seen.contains(fmt::format("{} {} {}", kind, op, dtype)));
}

}  // namespace
}  // namespace tpc
