// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "bench/gate/baseline_file.hpp"
#include "bench/gate/compare.hpp"
#include "bench/report/launches.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {
namespace {

Row noisy_row(const std::string& kind, std::uint64_t key, double mean) {
  Row row;
  row.kind = kind;
  row.op = kind == "collective" ? "all_reduce" : "transformer_layers";
  row.implementation = "reference";
  row.tp = 2;
  row.series.rounds = {8, 8, 8, 8, 8};
  for (std::uint64_t i = 0; i < 40; ++i)
    row.series.slowest.push_back(mean * (1 + 0.02 * gaussian(philox(key, i))));
  summarise(row);
  return row;
}

Results run_with(std::uint64_t key, double step, double yardstick = 1) {
  Results results;
  results.run.cpu = "Some CPU";
  results.run.provenance.cores = 2;
  results.run.provenance.mpi = "Open MPI 4.1.4";
  results.run.provenance.commit = "0123456789";
  results.rows = {noisy_row("step", key, step), noisy_row("collective", key + 1, 1),
                  noisy_row("yardstick", key + 2, yardstick)};
  results.rows[0].figures = {
      {"own_s_rank0", 1}, {"own_s_rank1", 1}, {"products_s", 0.5}, {"exposed_communication_s", 0.5}};
  results.fingerprints = {{"all_reduce f32 of 16 on 2 ranks", 77, true}};
  return results;
}

TEST(Gate, TheSameThingIsNeverAnAlarm) {
  int alarms = 0;
  for (std::uint64_t pair = 0; pair < 200; ++pair)
    alarms += compare(run_with(1000 * pair, 1), run_with(1000 * pair + 500, 1)).slower() ? 1 : 0;
  EXPECT_EQ(alarms, 0);
}

TEST(Gate, ASlowDownBeyondTheBandIsAnAlarmAndIsNamed) {
  const Results before = run_with(1, 1);
  Results now = run_with(2, 1.2);
  now.rows[0].figures["own_s_rank1"] = 1.25;
  const BaselineComparison comparison = compare(before, now);
  ASSERT_TRUE(comparison.slower());
  const std::string report = comparison_report(comparison, "b.json");
  EXPECT_NE(report.find("SLOWER"), std::string::npos);
  EXPECT_NE(report.find("rank 1 is the straggler"), std::string::npos) << report;
  EXPECT_NE(report.find("could see"), std::string::npos);
}

TEST(Gate, APartThatGrewIsNamedWhereNoRankIsToBlame) {
  Results now = run_with(2, 1.2);
  now.rows[0].figures["exposed_communication_s"] = 0.7;
  EXPECT_NE(comparison_report(compare(run_with(1, 1), now), "b").find("exposed communication grew by 200 ms"),
            std::string::npos);
}

TEST(Gate, FasterIsNoAlarm) {
  const BaselineComparison comparison = compare(run_with(1, 1), run_with(2, 0.5));
  EXPECT_FALSE(comparison.slower());
  EXPECT_NE(comparison_report(comparison, "b").find("faster"), std::string::npos);
}

TEST(Gate, ASlowerMachineIsNotTheLibrarysFault) {
  EXPECT_FALSE(compare(run_with(1, 1), run_with(2, 1.2, 1.2)).slower());
  EXPECT_TRUE(compare(run_with(1, 1), run_with(2, 1.5, 1.2)).slower());
}

TEST(Gate, ADisturbedBaselineHidesASmallChange) {
  Results before = run_with(1, 1);
  for (std::size_t i = 0; i < 8; ++i) before.rows[0].series.slowest[i] *= 1.4;  // one round was disturbed
  EXPECT_FALSE(compare(before, run_with(2, 1.2)).slower());
}

TEST(Gate, LaunchesThatDifferAreNoAlarm) {
  const auto run_of_launches = [](std::uint64_t key, double shift) {
    std::vector<Results> launches;
    for (const double mean : {1.0, 1.3, 1.0, 1.3, 1.3}) launches.push_back(run_with(++key, shift * mean));
    return merged(launches);
  };
  EXPECT_FALSE(compare(run_of_launches(10, 1), run_of_launches(20, 1)).slower());
  EXPECT_FALSE(compare(run_of_launches(10, 1), run_of_launches(20, 1.2)).slower());
  const BaselineComparison comparison = compare(run_of_launches(10, 1), run_of_launches(20, 2));
  ASSERT_TRUE(comparison.slower());
  EXPECT_NEAR(comparison.rows.back().chance, 1.0 / 252, 1e-9);
}

TEST(Gate, OneDisturbedLaunchNeitherAlarmsNorHides) {
  const auto run_of_launches = [](std::uint64_t key, double shift, double disturbed) {
    std::vector<Results> launches;
    for (const double mean : {1.0, disturbed, 1.0, 1.0, 1.0})
      launches.push_back(run_with(++key, shift * mean));
    return merged(launches);
  };
  EXPECT_FALSE(compare(run_of_launches(10, 1, 1), run_of_launches(20, 1, 9)).slower());
  EXPECT_TRUE(compare(run_of_launches(10, 1, 1), run_of_launches(20, 1.2, 9)).slower());
}

TEST(Gate, SaysThatTheMachineWasDisturbed) {
  Results now = run_with(2, 1);
  for (std::size_t i = 0; i < 8; ++i) now.rows[2].series.slowest[i] *= 1.5;  // a round of the yardstick
  EXPECT_NE(comparison_report(compare(run_with(1, 1), now), "b").find("the machine was disturbed"),
            std::string::npos);
  EXPECT_EQ(comparison_report(compare(run_with(1, 1), run_with(2, 1)), "b").find("disturbed"),
            std::string::npos);
}

TEST(Gate, AnAlarmMustComeTwice) {
  const BaselineComparison alarm = compare(run_with(1, 1), run_with(2, 1.3));
  EXPECT_TRUE(confirmed(alarm, compare(run_with(1, 1), run_with(3, 1.3))).slower());
  EXPECT_FALSE(confirmed(alarm, compare(run_with(1, 1), run_with(4, 1))).slower());
}

TEST(Gate, SaysWhatChangedAndWhatWasNotCompared) {
  const Results before = run_with(1, 1);
  Results now = run_with(2, 1);
  now.run.provenance.mpi = "Open MPI 5.0.0";
  now.fingerprints[0].bits = 78;
  now.rows[0].op = "other";
  now.rows[1].status = "fail";
  now.rows[1].reason = "rank 0: wrong";
  const BaselineComparison comparison = compare(before, now);
  const std::string report = comparison_report(comparison, "b");
  EXPECT_NE(report.find("MPI: Open MPI 4.1.4 -> Open MPI 5.0.0"), std::string::npos);
  EXPECT_NE(report.find("another order of summing"), std::string::npos);
  EXPECT_NE(report.find("only in the baseline"), std::string::npos);
  EXPECT_NE(report.find("not in the baseline"), std::string::npos);
  EXPECT_NE(report.find("fail, rank 0: wrong"), std::string::npos);
  EXPECT_FALSE(comparison.slower());
}

TEST(Baseline, IsFoundByHardwareAndLibraries) {
  const std::string folder = testing::TempDir() + "/baselines";
  std::filesystem::remove_all(folder);
  Results results = run_with(1, 1);
  try {
    find_baseline(folder, results.run);
    FAIL() << "found";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("--update-baseline"), std::string::npos);
  }
  write_baseline(folder, results);
  EXPECT_FALSE(find_baseline(folder, results.run).other_libraries);
  results.run.provenance.mpi = "Open MPI 5.0.0";
  EXPECT_TRUE(find_baseline(folder, results.run).other_libraries);
  results.run.cpu = "Another CPU";
  EXPECT_THROW(find_baseline(folder, results.run), UsageError);
}

TEST(Baseline, SurvivesWritingAndReading) {
  const std::string file = testing::TempDir() + "/baseline.json";
  const Results before = run_with(1, 1);
  write_baseline(file, before);
  const Results read = read_results(file);
  ASSERT_EQ(read.rows.size(), before.rows.size());
  EXPECT_EQ(key(read.rows[0]), key(before.rows[0]));
  EXPECT_EQ(read.rows[0].series.slowest, before.rows[0].series.slowest);
  EXPECT_EQ(read.rows[0].figures, before.rows[0].figures);
  EXPECT_EQ(read.fingerprints[0].bits, before.fingerprints[0].bits);
  EXPECT_FALSE(compare(read, before).slower());
}

TEST(Baseline, RefusesWhatIsNone) {
  const std::string file = testing::TempDir() + "/no_baseline.json";
  const auto refusal = [&](const std::string& content) {
    std::ofstream(file) << content;
    try {
      read_results(file);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("{half").find("is no JSON"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "other", "schema_version": 1})").find("schema 'other'"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "tp_bench.results", "schema_version": 99})").find("version 99"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "tp_bench.results", "schema_version": 2})").find("incomplete"),
            std::string::npos);
}

}  // namespace
}  // namespace tpc::bench
