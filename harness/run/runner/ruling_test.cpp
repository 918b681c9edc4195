// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/ruling.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc {
namespace {

using How = RankReport::How;

RankReports ranks_that(std::initializer_list<How> hows, const std::string& reason = "because") {
  RankReports reports;
  for (const How how : hows) {
    RankReport report;
    report.how = how;
    report.reason = reason;
    reports.emplace_back(report);
  }
  return reports;
}

Case refusal_case() {
  Case c;
  c.suite = "invalid";
  c.name = "heads";
  c.expectation = Expectation::refusal;
  c.reason_words = {"12 heads", "8"};
  return c;
}

TEST(Ruling, ResultsOfAllRanksGoOnToBeJudged) {
  EXPECT_TRUE(rule_on_responses({}, ranks_that({How::result, How::result, How::idle}, "")).go_on);
}

TEST(Ruling, AnErrorOnOneRankIsTheCasesError) {
  const Ruling ruling = rule_on_responses({}, ranks_that({How::result, How::error}));

  EXPECT_EQ(ruling.verdict, Outcome::error);
  EXPECT_EQ(ruling.message, "rank 1: because");
  EXPECT_FALSE(ruling.stop);
}

TEST(Ruling, RanksThatDisagreeAreAnError) {
  const Ruling ruling = rule_on_responses({}, ranks_that({How::result, How::refused}));

  EXPECT_EQ(ruling.verdict, Outcome::error);
  EXPECT_EQ(ruling.message, "ranks disagree: rank 0 a result (because), rank 1 a refusal (because)");
}

TEST(Ruling, UnsupportedIsNoFailure) {
  const Ruling ruling = rule_on_responses({}, ranks_that({How::unsupported, How::unsupported}));

  EXPECT_EQ(ruling.verdict, Outcome::unsupported);
}

TEST(Ruling, ARefusalPassesOnlyWhereItIsDueAndSaysWhy) {
  const Case c = refusal_case();
  const std::string good = "12 heads do not split over 8 ranks";

  EXPECT_EQ(rule_on_responses(c, ranks_that({How::refused, How::refused}, good)).verdict, Outcome::pass);
  const Ruling vague = rule_on_responses(c, ranks_that({How::refused, How::refused}, "12 heads: no"));
  EXPECT_EQ(vague.verdict, Outcome::fail);
  EXPECT_NE(vague.message.find("'8'"), std::string::npos) << vague.message;
  EXPECT_EQ(rule_on_responses(c, ranks_that({How::refused}, good + "\nat")).verdict, Outcome::fail);
  EXPECT_EQ(rule_on_responses({}, ranks_that({How::refused}, good)).verdict, Outcome::fail);
  EXPECT_TRUE(rule_on_responses(c, ranks_that({How::result}, "")).go_on);
}

TEST(Ruling, ARefusalAfterACollectiveFails) {
  RankReports reports = ranks_that({How::refused, How::refused}, "12 heads do not split over 8 ranks");
  for (auto& report : reports) report->calls.collectives = 2;

  const Ruling ruling = rule_on_responses(refusal_case(), reports);

  EXPECT_EQ(ruling.verdict, Outcome::fail);
  EXPECT_NE(ruling.message.find("only after 2 collectives"), std::string::npos) << ruling.message;
}

TEST(Ruling, AThrowingRankIsNamedAndTheRunGoesOn) {
  RankReports reports = ranks_that({How::abandoned, How::threw, How::abandoned});
  reports[1]->reason = "bad index";

  const Ruling ruling = rule_on_responses({}, reports);

  EXPECT_EQ(ruling.verdict, Outcome::error);
  EXPECT_TRUE(ruling.broken);
  EXPECT_FALSE(ruling.stop);
  EXPECT_NE(ruling.message.find("rank 1: bad index"), std::string::npos) << ruling.message;
}

TEST(Ruling, ADeadlineEndsTheRunAndNamesWhoDidNotArrive) {
  RankReports reports = ranks_that({How::deadline, How::result, How::abandoned});
  for (std::size_t r = 0; r < 3; ++r) reports[r]->calls.groups = {{"tp", {0, 1, 2}, r == 1 ? 1 : 2}};
  reports[0]->calls.waiting_on = reports[2]->calls.waiting_on = "tp";
  reports[0]->calls.last = "all_reduce of 64 f64 on tp, call 2";

  const Ruling ruling = rule_on_responses({}, reports);

  ASSERT_TRUE(ruling.stop);
  EXPECT_EQ(ruling.stop->code, 5);
  EXPECT_FALSE(ruling.stop->at_once);
  EXPECT_NE(ruling.message.find("did not arrive: rank 1;"), std::string::npos) << ruling.message;
  EXPECT_NE(ruling.message.find("rank 0: all_reduce of 64 f64 on tp, call 2"), std::string::npos);
}

TEST(Ruling, AMissingRankEndsTheRunAtOnce) {
  RankReports reports = ranks_that({How::result, How::result});
  reports[1].reset();

  const Ruling ruling = rule_on_responses({}, reports);

  ASSERT_TRUE(ruling.stop);
  EXPECT_TRUE(ruling.stop->at_once);
  EXPECT_NE(ruling.message.find("did not arrive: rank 1;"), std::string::npos) << ruling.message;
}

TEST(Ruling, TheEnvironmentEndsTheRunWithItsOwnCode) {
  const Ruling ruling = rule_on_responses({}, ranks_that({How::abandoned, How::environment}, "no memory"));

  ASSERT_TRUE(ruling.stop);
  EXPECT_EQ(ruling.stop->code, 3);
  EXPECT_NE(ruling.message.find("rank 1: no memory"), std::string::npos);
  EXPECT_EQ(rule_on_preparation(ranks_that({How::prepared, How::usage})).stop->code, 2);
}

TEST(Ruling, UnequalCallsAreAnErrorEvenWhereNothingHung) {
  RankReports reports = ranks_that({How::result, How::result}, "");
  reports[0]->calls.groups = {{"tp", {0, 1}, 2}};
  reports[1]->calls.groups = {{"tp", {0, 1}, 1}};

  const Ruling ruling = rule_on_responses({}, reports);

  EXPECT_EQ(ruling.verdict, Outcome::error);
  EXPECT_TRUE(ruling.broken);
  EXPECT_NE(ruling.message.find("unequal numbers of calls"), std::string::npos) << ruling.message;
}

TEST(Ruling, TheWorstComparisonWinsAndTheLargestRatioIsKept) {
  RankReports reports = ranks_that({How::judged, How::judged, How::idle}, "");
  reports[0]->comparison.worst_ratio = 2;
  reports[1]->comparison = {Verdict::fail, 1.5, "y", "rank 1: y[0] expected 1, got 2"};

  const Ruling ruling = rule_on_comparison({}, reports);

  EXPECT_EQ(ruling.verdict, Outcome::fail);
  EXPECT_EQ(ruling.worst_ratio, 2);
  EXPECT_EQ(ruling.message, "rank 1: y[0] expected 1, got 2");
  reports[0]->comparison.worst_ratio = NAN;
  EXPECT_TRUE(std::isnan(*rule_on_comparison({}, reports).worst_ratio));
}

TEST(Ruling, SurvivesTheWire) {
  RankReport report = *ranks_that({How::judged})[0];
  report.calls.groups = {{"tp", {0, 1, 2}, 7}};
  report.calls.last = "last";
  report.calls.waiting_on = "tp";
  report.calls.collectives = 9;
  report.comparison = {Verdict::fail, 3.5, "y", "message", "note", 7};
  const RankReport back = unpack_report(pack(report));
  EXPECT_EQ(back.how, How::judged);
  EXPECT_EQ(back.calls.groups, report.calls.groups);
  EXPECT_EQ(back.calls.collectives, 9);
  EXPECT_EQ(back.comparison.message, "message");
  EXPECT_EQ(back.comparison.note, "note");
  EXPECT_EQ(back.comparison.tests, 7);

  Ruling ruling;
  ruling.worst_ratio = 0.5;
  ruling.stop = Stop{5, "why", true};
  const Ruling heard = unpack_ruling(pack(ruling));
  EXPECT_EQ(heard.worst_ratio, 0.5);
  EXPECT_TRUE(heard.stop && heard.stop->at_once && heard.stop->reason == "why");
  EXPECT_EQ(unpack_ruling(pack(Ruling{})).stop.has_value(), false);
}

}  // namespace
}  // namespace tpc
