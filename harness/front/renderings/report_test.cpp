// SPDX-License-Identifier: Apache-2.0
#include "harness/front/renderings/report.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc {
namespace {

Record report_record(const std::string& suite, const std::string& test, Outcome verdict,
                     const std::string& tier, std::optional<double> ratio, const std::string& message = "") {
  Record record;
  record.suite = suite;
  record.case_name = suite + "." + test;
  record.verdict = verdict;
  record.tier = tier;
  record.worst_ratio = ratio;
  record.message = message;
  record.replay = "mpirun -np 2 tp_conformance --gtest_filter=" + record.case_name;
  return record;
}

Provenance machine(int ranks, int cores) {
  Provenance p;
  p.version = "0.1.0";
  p.commit = "0123456789";
  p.host = "node";
  p.ranks = ranks;
  p.cores = cores;
  return p;
}

TEST(Report, CountsBySuiteAndKeepsTheLargestRatioOfEachTier) {
  const std::string text = report(machine(2, 2),
                                  {report_record("b", "1", Outcome::pass, "f64", 0.25),
                                   report_record("a", "1", Outcome::pass, "f32", 0.5),
                                   report_record("b", "2", Outcome::pass, "f64", 0.125)},
                                  1.25);

  EXPECT_NE(text.find("largest ratio in f64, f32\n"), std::string::npos) << text;
  EXPECT_NE(text.find("b                          2       0       0            0        0   0.25  -\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("3 cases in 1.2 s on 2 ranks, 2 cores of node\n"), std::string::npos) << text;
}

TEST(Report, LosesNeitherInfinityNorNan) {
  const std::string text = report(machine(1, 1),
                                  {report_record("a", "1", Outcome::fail, "exact", INFINITY),
                                   report_record("a", "2", Outcome::fail, "f64", NAN),
                                   report_record("a", "3", Outcome::pass, "f64", 0.1)},
                                  1);
  EXPECT_NE(text.find("inf  nan"), std::string::npos) << text;
}

TEST(Report, SaysWhatWasNotRunAndWhyOncePerReason) {
  const std::string text = report(machine(1, 1),
                                  {report_record("a", "1", Outcome::not_run, "f64", {}, "needs 8 ranks"),
                                   report_record("a", "2", Outcome::not_run, "f64", {}, "needs 8 ranks"),
                                   report_record("a", "3", Outcome::unsupported, "f64", {}, "no z-loss")},
                                  1);
  EXPECT_NE(text.find("not run:     2  needs 8 ranks\n"), std::string::npos) << text;
  EXPECT_NE(text.find("unsupported:     1  no z-loss\n"), std::string::npos) << text;
}

TEST(Report, SaysThatAnOversubscribedTimeIsNoMeasure) {
  EXPECT_NE(report(machine(8, 2), {}, 1).find("8 ranks, 2 cores of node: oversubscribed"), std::string::npos);
  EXPECT_EQ(report(machine(2, 2), {}, 1).find("oversubscribed"), std::string::npos);
}

TEST(Report, EveryFailureCarriesItsCommandLine) {
  const Record record = report_record("a", "1", Outcome::fail, "f64", 2, "rank 1: y[3]");

  EXPECT_EQ(failure_text(record),
            "rank 1: y[3]\nrun it alone: mpirun -np 2 tp_conformance --gtest_filter=a.1");
  EXPECT_NE(report(machine(1, 1), {record}, 1).find("failed: a.1\n  mpirun -np 2"), std::string::npos);
}

TEST(Report, LastLinePassesOnlyWithExitCodeZero) {
  Summary summary;
  summary.tally.passed = 3;
  EXPECT_EQ(last_line(machine(1, 1), summary), "TP_CONFORMANCE PASS 3/3 0.1.0 01234567");
  summary.tally.failed = 1;
  summary.exit_code = 1;
  EXPECT_EQ(last_line(machine(1, 1), summary), "TP_CONFORMANCE FAIL 3/4 0.1.0 01234567");
}

}  // namespace
}  // namespace tpc
