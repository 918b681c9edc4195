// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/activation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc::baseline {
namespace {

// The exact tier rests on this: far from zero nothing of the curve is left, to the bit.
TEST(Gelu, IsExactWhereSaturated) {
  for (const GeluForm form : {GeluForm::erf, GeluForm::tanh}) {
    for (int step = 1; step <= 1024; ++step) {
      const double x = 64 * step;
      ASSERT_EQ(gelu(form, x), x);
      ASSERT_EQ(gelu(form, -x), 0);
      ASSERT_EQ(gelu_slope(form, x), 1);
      ASSERT_EQ(gelu_slope(form, -x), 0);
    }
    EXPECT_EQ(gelu(form, 0), 0);
    EXPECT_EQ(gelu_slope(form, 0), 0.5);
  }
}

TEST(Silu, IsExactWhereSaturated) {
  for (int step = 1; step <= 1024; ++step) {
    const double x = 1024 * step;
    ASSERT_EQ(silu(x), x);
    ASSERT_EQ(silu(-x), 0);
    ASSERT_EQ(silu_slope(x), 1);
    ASSERT_EQ(silu_slope(-x), 0);
  }
  EXPECT_EQ(silu(0), 0);
  EXPECT_EQ(silu_slope(0), 0.5);
}

// Published values: torch.nn.GELU and torch.nn.SiLU at 1 to seven digits.
TEST(Activations, HaveTheirKnownValuesAtOne) {
  EXPECT_NEAR(gelu(GeluForm::erf, 1), 0.8413447, 5e-8);
  EXPECT_NEAR(gelu(GeluForm::tanh, 1), 0.8411920, 5e-8);
  EXPECT_NEAR(silu(1), 0.7310586, 5e-8);
}

TEST(Activations, AreOddUpToTheIdentity) {
  for (int step = -16; step <= 16; ++step) {
    const double x = 0.3125 * step;
    EXPECT_NEAR(gelu(GeluForm::erf, x) - gelu(GeluForm::erf, -x), x, 1e-15 * std::fabs(x));
    EXPECT_NEAR(gelu(GeluForm::tanh, x) - gelu(GeluForm::tanh, -x), x, 1e-15 * std::fabs(x));
    EXPECT_NEAR(silu(x) - silu(-x), x, 2e-15 * std::fabs(x));
    EXPECT_NEAR(silu_slope(x) + silu_slope(-x), 1, 1e-15);
  }
}

}  // namespace
}  // namespace tpc::baseline
