// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.hpp"

#include <gtest/gtest.h>

#include "reference/core/contract.hpp"

namespace tpc::bench {
namespace {

TEST(Statistics, QuantilesLieBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(median(std::vector{3.0, 1.0, 2.0}), 2);
  EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_DOUBLE_EQ(quantile(std::vector{0.0, 10.0}, 0.05), 0.5);
  EXPECT_DOUBLE_EQ(quantile(std::vector{7.0}, 0.95), 7);
  EXPECT_THROW(median(std::vector<double>{}), ContractError);
}

TEST(Statistics, StartUpIsCutOff) {
  std::vector<double> series = {9, 5, 2};
  for (int i = 0; i < 20; ++i) series.push_back(1 + 0.01 * (i % 3));
  EXPECT_EQ(steady_from(series), 3U);
  EXPECT_LT(summary_of(series).p95, 1.1);
}

TEST(Statistics, AFlatSeriesIsKeptWhole) { EXPECT_EQ(steady_from(std::vector<double>(10, 2.0)), 0U); }

TEST(Statistics, OneLateOutlierDoesNotMoveTheMedian) {
  std::vector<double> series(20, 1.0);
  series[15] = 100;
  EXPECT_DOUBLE_EQ(summary_of(series).median, 1);
}

TEST(Statistics, ATrimmedMeanKeepsWhatComesNowAndThen) {
  std::vector<double> values(20, 1.0);
  for (int i = 0; i < 5; ++i) values[static_cast<std::size_t>(i)] = 3;
  EXPECT_NEAR(trimmed_mean(values), 1.5, 1e-12);
  std::vector<double> once(100, 1.0);
  once[50] = 1e6;
  EXPECT_DOUBLE_EQ(trimmed_mean(once), 1);
  EXPECT_DOUBLE_EQ(trimmed_mean(std::vector{1.0, 2.0}), 1.5);
}

TEST(Statistics, SpreadIsOfTheOutermost) {
  EXPECT_DOUBLE_EQ(spread(std::vector{2.0, 1.0, 4.0}), 1.5);
  EXPECT_EQ(spread(std::vector{2.0}), 0);
}

TEST(Statistics, SeparationIsOneOfAllOrders) {
  EXPECT_DOUBLE_EQ(chance_of_separation(5, 5), 1.0 / 252);
  EXPECT_DOUBLE_EQ(chance_of_separation(1, 1), 0.5);
}

}  // namespace
}  // namespace tpc::bench
