// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/core/contract.hpp"

namespace tpc::baseline {
namespace {

TEST(LowestBit, IsTheLargestPowerOfTwoThatDivides) {
  EXPECT_EQ(lowest_bit(12.0), 4);
  EXPECT_EQ(lowest_bit(-12.0), 4);
  EXPECT_EQ(lowest_bit(0.75), 0.25);
  EXPECT_EQ(lowest_bit(1 + 0x1p-52), 0x1p-52);
  EXPECT_EQ(lowest_bit(0x1.8p200), 0x1p199);
  EXPECT_EQ(lowest_bit(0x1p-1074), 0x1p-1074);
  EXPECT_EQ(lowest_bit(0.0), std::numeric_limits<double>::infinity());
}

TEST(LowestBit, OfManyIsTheSmallest) {
  EXPECT_EQ(lowest_bit(Values{8, -12, 0, 1024}), 4);
  EXPECT_EQ(lowest_bit(Values{0, 0}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(lowest_bit(Values{}), std::numeric_limits<double>::infinity());
}

TEST(Scale, GathersNormAndMaximum) {
  Scale scale;
  EXPECT_EQ(scale.norm(), 0);
  EXPECT_EQ(scale.max(), 0);
  scale.add({3, 1});
  scale.add({4, 0});
  EXPECT_DOUBLE_EQ(scale.norm(), std::sqrt(26.0));
  EXPECT_EQ(scale.max(), 4);
}

TEST(ScaleOfRows, EqualsTheScaleOfAll) {
  // More rows than are made at once, and a count that no part divides.
  const std::int64_t rows = 5001;
  const std::int64_t cols = 1031;
  const auto element = [&](std::int64_t i) { return static_cast<double>(i % 4099); };
  std::int64_t parts = 0;
  const Scale got = scale_of_rows(rows, cols, [&](std::int64_t first, std::int64_t count, Values& part) {
    ASSERT_EQ(static_cast<std::int64_t>(part.size()), count * cols);
    for (std::int64_t i = 0; i < count * cols; ++i) part[i] += element(first * cols + i);
    ++parts;
  });
  double squares = 0;
  for (std::int64_t i = 0; i < rows * cols; ++i) squares += element(i) * element(i);
  EXPECT_GT(parts, 1);
  EXPECT_DOUBLE_EQ(got.norm(), std::sqrt(squares));
  EXPECT_EQ(got.max(), 4098);
}

TEST(Terms, AddValuesMagnitudesAndUnits) {
  const Terms sum = sum_of({{1, -2}, {1, 2}, 0.5}, {{3, 2}, {4, 2}, 0.25});
  EXPECT_EQ(sum.value, (Values{4, 0}));
  EXPECT_EQ(sum.magnitudes, (Values{5, 4}));
  EXPECT_EQ(sum.unit, 0.25);
  EXPECT_EQ(largest_quanta(sum), 20);
  EXPECT_THROW(sum_of({{1}, {}, 0}, {{1, 2}, {}, 0}), ContractError);
}

// 1024 beside 0, and 0 beside 0.5: neither is a sum that could be rounded.
TEST(Terms, AbsentTermsPutNoBoundOnTheUnit) {
  const Terms one = {{1024, 0}, {1024, 0}, 1024};
  const Terms other = {{0, 0.5}, {0, 0.5}, 0.5};
  EXPECT_EQ(largest_quanta(sum_of(one, other)), 1);
  EXPECT_EQ(largest_quanta(sum_of(sum_of(one, other), one)), 2);
  EXPECT_EQ(largest_quanta(sum_of(sum_of(one, other), {{0.5, 0}, {0.5, 0}, 0.5})), 2049);
}

}  // namespace
}  // namespace tpc::baseline
