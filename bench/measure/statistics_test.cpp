// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/core/contract.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {
namespace {

std::vector<double> noise(std::uint64_t key, int count, double mean, double spread) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(mean + spread * gaussian(philox(key, i)));
  return values;
}

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

TEST(Statistics, TheBandIsHowFarEqualRoundsLieApart) {
  EXPECT_NEAR(same_same_band({{1, 1, 1}, {1.1, 1.1}, {1.05}}), 0.1 / 1.05, 1e-12);
  EXPECT_EQ(same_same_band({{1, 2}}), 0);
}

TEST(Statistics, TheTestIsOneSided) {
  const auto before = noise(1, 30, 10, 0.5);
  EXPECT_LT(probability_not_larger(before, noise(2, 30, 11, 0.5)), 1e-6);
  EXPECT_GT(probability_not_larger(before, noise(3, 30, 9, 0.5)), 0.999);
}

TEST(Statistics, EqualThingsAreRarelyCalledLarger) {
  int alarms = 0;
  for (std::uint64_t pair = 0; pair < 2000; ++pair)
    alarms +=
        probability_not_larger(noise(2 * pair, 20, 1, 0.1), noise(2 * pair + 1, 20, 1, 0.1)) < 0.01 ? 1 : 0;
  EXPECT_NEAR(alarms, 20, 15);
}

TEST(Statistics, TiesDecideNothing) {
  EXPECT_GT(probability_not_larger(std::vector<double>(5, 1.0), std::vector<double>(5, 1.0)), 0.5);
}

}  // namespace
}  // namespace tpc::bench
