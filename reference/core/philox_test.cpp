// SPDX-License-Identifier: Apache-2.0
#include "reference/core/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc {
namespace {

// The known-answer vectors of Random123's own test (tests/kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox(0, 0), (PhiloxWords{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  EXPECT_EQ(philox(~0ULL, ~0ULL, ~0ULL), (PhiloxWords{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
}

TEST(Gaussian, IsDyadicWithUnitVariance) {
  constexpr int n = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double g = gaussian(philox(7, static_cast<std::uint64_t>(i)));
    ASSERT_EQ(g * 0x1p18, std::floor(g * 0x1p18));
    ASSERT_EQ(static_cast<double>(static_cast<float>(g)), g);
    sum += g;
    squares += g * g;
  }
  EXPECT_NEAR(sum / n, 0, 6 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 6 * std::sqrt(2.0 / n));
}

TEST(HashName, TellsNamesApart) { EXPECT_NE(hash_name("fc1.weight"), hash_name("fc2.weight")); }

}  // namespace
}  // namespace tpc
