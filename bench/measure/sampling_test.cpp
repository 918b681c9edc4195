// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sampling.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "bench/measure/texts.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

using namespace std::chrono_literals;

Plan two_rounds() { return {.rounds = 2, .samples = 8, .seconds = 0.01, .least_sample_s = 1e-6}; }

TEST(Sampling, TwoRoundsAreEnoughWhereTimeIsUp) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    Subject slow;
    slow.name = "slow";
    slow.run = [](int) { std::this_thread::sleep_for(2ms); };
    const Plan plan{.rounds = 5, .samples = 0, .seconds = 1e-3, .least_sample_s = 1e-6};
    EXPECT_EQ(measure(*ranks, {slow}, plan, plain_loop()).front().rounds.size(), 2U);
  });
}

TEST(Sampling, ASampleIsTheSlowestRanks) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    Subject subject{.name = "late", .run = [&](int) {
                      if (ranks->rank() == 2) std::this_thread::sleep_for(2ms);
                    }};
    const Series series = measure(*ranks, {subject}, two_rounds(), plain_loop()).front();
    EXPECT_EQ(series.slowest.size(), 8U);
    ASSERT_EQ(series.by_rank.size(), 3U);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(series.slowest[i],
                std::max({series.by_rank[0][i], series.by_rank[1][i], series.by_rank[2][i]}));
      EXPECT_GE(series.by_rank[2][i], 0.002);
    }
  });
}

TEST(Sampling, EveryRankTakesAsManySamplesAndCalls) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    Subject subject{.name = "uneven",
                    .run = [&](int) { std::this_thread::sleep_for(ranks->rank() == 0 ? 50us : 500us); }};
    const Series series = measure(*ranks, {subject}, {.rounds = 3, .seconds = 0.02}, plain_loop()).front();
    EXPECT_GE(series.rounds.size(), 2U);  // three where the machine has time
    EXPECT_EQ(series.by_rank[0].size(), series.by_rank[1].size());
    EXPECT_EQ(series.by_round()[1].size(), static_cast<std::size_t>(series.rounds[1]));
  });
}

TEST(Sampling, ShortCallsAreGathered) {
  const auto self = make_single_communicator();
  Subject subject{.name = "nothing", .run = [](int) {}};
  const Plan plan{.rounds = 1, .samples = 2, .least_sample_s = 1e-5};
  EXPECT_GT(measure(*self, {subject}, plan, plain_loop()).front().calls, 10);
}

TEST(Sampling, SlotsTakeTurnsAndEachIsPreparedAndChecked) {
  const auto self = make_single_communicator();
  std::vector<int> prepared(3);
  std::vector<int> checked(3);
  std::vector<int> ran(3);
  Subject subject{.name = "slots",
                  .slots = 3,
                  .prepare = [&](int slot) { ++prepared[static_cast<std::size_t>(slot)]; },
                  .run = [&](int slot) { ++ran[static_cast<std::size_t>(slot)]; },
                  .check =
                      [&](int slot) {
                        ++checked[static_cast<std::size_t>(slot)];
                        return std::string();
                      }};
  measure(*self, {subject}, two_rounds(), plain_loop());
  EXPECT_EQ(prepared, (std::vector{2, 2, 2}));
  EXPECT_EQ(checked, (std::vector{2, 2, 2}));
  EXPECT_LE(*std::max_element(ran.begin(), ran.end()) - *std::min_element(ran.begin(), ran.end()), 1);
}

TEST(Sampling, ARivalTakesTurnsAndGoesAsOftenThroughAllSlots) {
  const auto self = make_single_communicator();
  std::string order;
  int rivals_calls = 0;
  Subject subject{.name = "ours", .slots = 3, .run = [&](int) { order += 'o'; }};
  subject.rival = [&](int calls) {
    order += 'r';
    rivals_calls = calls;
    return 0.5;
  };
  const Plan plan{.rounds = 1, .samples = 4, .least_sample_s = 1e-12};
  const Series series = measure(*self, {subject}, plan, plain_loop()).front();
  EXPECT_EQ(series.calls, 3);
  EXPECT_EQ(rivals_calls, 3);
  EXPECT_EQ(series.rival, std::vector<double>(4, 0.5));
  EXPECT_EQ(series.slowest.size(), 4U);
  EXPECT_NE(order.find("roooooorrooooooro"), std::string::npos) << order;
}

TEST(Sampling, ARivalOnTheSameBuffersHidesNoWrongResult) {
  const auto self = make_single_communicator();
  int out = 0;
  Subject subject{.name = "wrong",
                  .prepare = [&](int) { out = 0; },
                  .run = [&](int) { out = 1; },
                  .check = [&](int) { return out == 2 ? std::string() : fmt::format("{}, not 2", out); }};
  subject.rival = [&](int) {
    out = 2;
    return 0.5;
  };
  EXPECT_EQ(measure(*self, {subject}, two_rounds(), plain_loop()).front().wrong, "rank 0: 1, not 2");
}

TEST(Sampling, AWrongResultOnAnyRankIsKnownOnAll) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    Subject subject{.name = "wrong",
                    .run = [](int) {},
                    .check = [&](int) { return ranks->rank() == 1 ? "element 5 is NaN" : std::string(); }};
    EXPECT_EQ(measure(*ranks, {subject}, two_rounds(), plain_loop()).front().wrong,
              "rank 1: element 5 is NaN");
  });
}

TEST(Sampling, RoundsGoOverAllSubjects) {
  const auto self = make_single_communicator();
  std::string order;
  const Loop loop = [&](const std::string& name, int, const std::function<double()>&) { order += name; };
  measure(*self, {{.name = "a", .run = [](int) {}}, {.name = "b", .run = [](int) {}}}, two_rounds(), loop);
  EXPECT_EQ(order, "abab");
}

TEST(Texts, AreGathered) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    const auto all = all_texts(*ranks, std::string(static_cast<std::size_t>(ranks->rank()), 'x'));
    EXPECT_EQ(all, (std::vector<std::string>{"", "x", "xx"}));
  });
}

}  // namespace
}  // namespace tpc::bench
