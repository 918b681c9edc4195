// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/agreement.hpp"

#include <gtest/gtest.h>

#include "harness/values/texts.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

using Clock = Agreement::Clock;
using std::chrono::milliseconds;

Agreement::Patience patience(int reports, int decision) {
  return {Clock::now() + milliseconds(reports), Clock::now() + milliseconds(decision)};
}

TEST(Agreement, EveryRankHearsWhatRank0MadeOfAllReports) {
  on_local_ranks(5, [](const CommunicatorPtr& ranks) {
    Agreement agreement(ranks);
    for (int round = 0; round < 3; ++round) {
      const auto answer = agreement.reach(
          std::string(static_cast<std::size_t>(ranks->rank()), 'x'),
          [&](const Agreement::Reports& reports) {
            std::string lengths;
            for (const auto& report : reports) lengths += std::to_string(report.value().size());
            return fmt::format("{}:{}", lengths, round);
          },
          patience(60'000, 60'000));
      EXPECT_EQ(answer, fmt::format("01234:{}", round));
    }
  });
}

TEST(Agreement, OneRankAgreesWithItself) {
  on_local_ranks(1, [](const CommunicatorPtr& ranks) {
    const auto answer = Agreement(ranks).reach(
        "", [](const Agreement::Reports& reports) { return reports.at(0).value() + "alone"; },
        patience(1000, 1000));
    EXPECT_EQ(answer, "alone");
  });
}

TEST(Agreement, NamesTheRanksThatDidNotArriveAndAnswersTheOthers) {
  on_local_ranks(4, [](const CommunicatorPtr& ranks) {
    Agreement agreement(ranks);
    if (ranks->rank() == 1) return;
    const auto answer = agreement.reach(
        "here",
        [](const Agreement::Reports& reports) {
          std::string missing = "missing";
          for (std::size_t r = 0; r < reports.size(); ++r)
            if (!reports[r]) missing += fmt::format(" {}", r);
          return missing;
        },
        patience(200, 60'000));
    EXPECT_EQ(answer, "missing 1");
  });
}

TEST(Agreement, SaysNothingWhereRank0IsSilent) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    if (ranks->rank() == 0) return;
    const auto answer = Agreement(ranks).reach(
        "here", [](const Agreement::Reports&) { return ""; }, patience(100, 200));
    EXPECT_EQ(answer, std::nullopt);
  });
}

TEST(Agreement, WhatEndsOneRankEndsAllWithTheSameCode) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    Agreement agreement(ranks);
    EXPECT_NO_THROW(together(agreement, [] {}));
    try {
      together(agreement, [&] {
        if (ranks->rank() > 0) throw UsageError(fmt::format("rank {} cannot read it", ranks->rank()));
      });
      FAIL() << "went on";
    } catch (const RunEnds& end) {
      EXPECT_EQ(end.exit_code(), 2);
      EXPECT_STREQ(end.what(), "rank 1 cannot read it");
    }
  });
}

TEST(Agreement, BroadcastsLinesOfRank0) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    const std::vector<std::string> own = {"--seed", "", std::to_string(ranks->rank())};
    EXPECT_EQ(broadcast_lines(*ranks, own), (std::vector<std::string>{"--seed", "", "0"}));
    EXPECT_TRUE(broadcast_lines(*ranks, {}).empty());
  });
}

}  // namespace
}  // namespace tpc
