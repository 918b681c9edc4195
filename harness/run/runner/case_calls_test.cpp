// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/case_calls.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

CallReport report(std::vector<GroupCalls> groups, const std::string& last,
                  const std::string& waiting_on = "") {
  CallReport made;
  made.groups = std::move(groups);
  made.last = last;
  made.waiting_on = waiting_on;
  return made;
}

TEST(CaseCalls, CountsOnlyTheCallsOfTheCaseAlsoInGroupsThatAreGone) {
  on_local_ranks(4, [](const CommunicatorPtr& ranks) {
    const Tensor x = host_tensor(DType::f64, {2});
    ranks->all_reduce(x, x, ReduceOp::sum);
    {
      const auto old = ranks->split(0, ranks->rank(), "old");
      old->all_reduce(x, x, ReduceOp::sum);
    }
    CaseCalls calls(ranks->log());
    {
      const auto pair = ranks->split(ranks->rank() / 2, ranks->rank(), "pair");
      pair->all_reduce(x, x, ReduceOp::sum);
      pair->all_reduce(x, x, ReduceOp::sum);
    }
    const CallReport made = calls.finish();

    const int first = ranks->rank() / 2 * 2;
    ASSERT_EQ(made.groups.size(), 2U);
    EXPECT_EQ(made.groups[0], (GroupCalls{"world", {0, 1, 2, 3}, 1}));
    EXPECT_EQ(made.groups[1], (GroupCalls{"pair", {first, first + 1}, 2}));
    EXPECT_EQ(made.collectives, 2);
    EXPECT_NE(made.last.find("all_reduce"), std::string::npos);
  });
}

TEST(CaseCalls, NamesRanksThatMadeFewerCallsThanTheOneWhoWaits) {
  const std::vector<int> members = {0, 1, 2};
  const CallReports reports = {report({{"tp", members, 3}}, "a", "tp"), report({{"tp", members, 2}}, "b"),
                               report({{"tp", members, 3}}, "c", "tp"), report({}, "")};

  EXPECT_EQ(ranks_not_arrived(reports), (std::vector<int>{1}));
  EXPECT_EQ(last_collectives(reports), "rank 0: a; rank 1: b; rank 2: c; rank 3: none");
}

TEST(CaseCalls, CountsASilentRankAsNotArrived) {
  const CallReports reports = {report({{"tp", {0, 2}, 1}}, "a", "tp"), report({}, ""), std::nullopt};

  EXPECT_EQ(ranks_not_arrived(reports), (std::vector<int>{2}));
  EXPECT_EQ(last_collectives(reports), "rank 0: a; rank 1: none; rank 2: not known");
}

TEST(CaseCalls, TellsGroupsOfOneNameApartByTheirMembers) {
  const CallReports even = {report({{"tp", {0, 1}, 1}}, ""), report({{"tp", {0, 1}, 1}}, ""),
                            report({{"tp", {2, 3}, 5}}, ""), report({{"tp", {2, 3}, 5}}, "")};
  EXPECT_EQ(unequal_calls(even), "");
  EXPECT_EQ(unequal_calls({report({{"tp", {0, 1}, 1}, {"tp", {0, 2}, 2}}, ""),
                           report({{"tp", {0, 1}, 1}}, ""), report({{"tp", {0, 2}, 2}}, "")}),
            "");

  CallReports odd = even;
  odd[3]->groups[0].calls = 4;
  EXPECT_EQ(unequal_calls(odd), "unequal numbers of calls on tp of ranks 2, 3 (rank 2: 5, rank 3: 4)");
  odd[3]->groups.clear();
  EXPECT_EQ(unequal_calls(odd), "unequal numbers of calls on tp of ranks 2, 3 (rank 2: 5, rank 3: 0)");
}

}  // namespace
}  // namespace tpc
