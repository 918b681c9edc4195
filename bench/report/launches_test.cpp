// SPDX-License-Identifier: Apache-2.0
#include "bench/report/launches.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tpc::bench {
namespace {

Results launch_of(std::vector<double> seconds, std::uint64_t bits = 7) {
  Row row;
  row.kind = "step";
  row.figures["products_s"] = seconds.front();
  row.series.rounds = {static_cast<int>(seconds.size())};
  row.series.by_rank = {seconds, seconds};
  row.series.slowest = std::move(seconds);
  summarise(row);
  Results results;
  results.rows = {row};
  results.fingerprints = {{"all_reduce", bits, true}};
  return results;
}

TEST(Launches, EachCountsAlikeHoweverManySamplesItTook) {
  const Row row = merged({launch_of({1, 1, 1, 1}), launch_of({2, 2}), launch_of({6})}).rows.front();
  EXPECT_EQ(row.seconds.median, 2);
  EXPECT_EQ(equal_medians(row), (std::vector<double>{1, 2, 6}));
  EXPECT_EQ(row.figures.at("products_s"), 3);
  EXPECT_EQ(row.series.by_rank[1].size(), 7U);
  EXPECT_EQ(row.series.by_round().size(), 3U);
}

TEST(Launches, OneAloneStaysWhatItIs) {
  const Row row = merged({launch_of({1, 2, 3})}).rows.front();
  EXPECT_TRUE(row.series.launches.empty());
  EXPECT_EQ(row.figures.at("products_s"), 1);
}

TEST(Launches, WhatFailedOnceHasFailed) {
  Results failed = launch_of({1});
  failed.rows.front().status = "fail";
  failed.rows.front().reason = "element 3 is NaN";
  for (const std::vector<Results>& order :
       {std::vector{failed, launch_of({1})}, std::vector{launch_of({1}), failed}}) {
    EXPECT_EQ(merged(order).rows.front().status, "fail");
    EXPECT_EQ(merged(order).rows.front().reason, "element 3 is NaN");
  }
}

TEST(Launches, ARowOfALaterLaunchIsKept) {
  Results other = launch_of({1});
  other.rows.front().kind = "gemm";
  EXPECT_EQ(merged({launch_of({1}), other}).rows.size(), 2U);
}

TEST(Launches, BitsThatChangeFromLaunchToLaunchDoNotAgree) {
  EXPECT_TRUE(merged({launch_of({1}), launch_of({1})}).fingerprints.front().agreed);
  EXPECT_FALSE(merged({launch_of({1}), launch_of({1}, 8)}).fingerprints.front().agreed);
}

TEST(Launches, AreWrittenAndReadAgain) {
  const std::string file = testing::TempDir() + "/launches.json";
  const Results results = merged({launch_of({1, 2}), launch_of({3})});
  std::ofstream(file) << to_json(results);
  EXPECT_EQ(read_results(file).rows.front().series.launches, (std::vector<int>{2, 1}));
}

}  // namespace
}  // namespace tpc::bench
