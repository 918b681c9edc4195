// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/tiers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tpc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Case case_of(Tier tier, Operation operation = Operation::column_linear, int ranks = 4) {
  Case c;
  c.tier = tier;
  c.request.problem.asked = operation;
  c.request.problem.dtype = tier == Tier::bf16 ? DType::bf16 : tier == Tier::f32 ? DType::f32 : DType::f64;
  c.request.mesh = {{ranks}, {"tp"}};
  return c;
}

Expected tensor(const Shape& shape, double norm, double scale_norm, double scale_max) {
  Expected expected;
  expected.shape = shape;
  expected.norm = norm;
  expected.scale_norm = scale_norm;
  expected.scale_max = scale_max;
  return expected;
}

TEST(ExactTier, AsksForEqualValues) {
  const Expected expected = tensor({100}, 1, 1, 1);
  EXPECT_EQ(error_ratio(case_of(Tier::exact), expected, {0, 0, true}), 0);
  EXPECT_EQ(error_ratio(case_of(Tier::exact), expected, {1e-300, 1e-150, false}), infinity);
}

TEST(F64Tier, MeasuresByTheLargerOfValueAndScale) {
  const double error = 2e-12;
  const TensorError d = {error * error, error, false};
  EXPECT_NEAR(error_ratio(case_of(Tier::f64), tensor({100}, 2, 1, 1), d), 1, 1e-9);
  EXPECT_NEAR(error_ratio(case_of(Tier::f64), tensor({100}, 0, 2, 1), d), 1, 1e-9);
  EXPECT_NEAR(error_ratio(case_of(Tier::f64), tensor({100}, 0.5, 1, 1), d), 2, 1e-9);
}

TEST(F64Tier, BlocksAndModelsMayErrMore) {
  const double error = 2e-11;
  const TensorError d = {error * error, error, false};
  for (const Operation operation : {Operation::transformer_layer, Operation::model})
    EXPECT_NEAR(error_ratio(case_of(Tier::f64, operation), tensor({100}, 1, 1, 1), d), 0.2, 1e-9);
  EXPECT_NEAR(error_ratio(case_of(Tier::f64, Operation::attention), tensor({100}, 1, 1, 1), d), 20, 1e-9);
}

TEST(F64Tier, OneElementCannotHideInALargeTensor) {
  const double error = 1e-10;  // 0.1 times the tensor's bound, 10 times the element's
  EXPECT_NEAR(
      error_ratio(case_of(Tier::f64), tensor({1000000}, 1000, 1000, 1), {error * error, error, false}), 10,
      1e-9);
}

TEST(F64Tier, ZeroWithoutTermsMustBeZero) {
  EXPECT_EQ(error_ratio(case_of(Tier::f64), tensor({10}, 0, 0, 0), {0, 0, true}), 0);
  EXPECT_EQ(error_ratio(case_of(Tier::f64), tensor({10}, 0, 0, 0), {1e-40, 1e-20, false}), infinity);
}

TEST(AnyTier, WhatIsNotFiniteIsInfinitelyFar) {
  for (const Tier tier : {Tier::exact, Tier::f64, Tier::f32, Tier::bf16})
    EXPECT_EQ(error_ratio(case_of(tier), tensor({100}, 1, 1, 1), {infinity, infinity, false}), infinity);
}

TEST(RoundingTiers, GrowWithTheRanksAndTheErrorOfOne) {
  constexpr double u = 0x1p-24;
  Expected expected = tensor({64}, 1, 1, 1);
  expected.single = 4 * u;
  expected.perturbed = u;
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::f32, 1, expected), 3 * std::sqrt(1.5) * 4 * u + u);
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::f32, 8, expected), 3 * std::sqrt(5) * 4 * u + u);
  const double error = 6 * std::sqrt(5) * 4 * u + 2 * u;
  EXPECT_NEAR(error_ratio(case_of(Tier::f32, Operation::mlp, 8), expected, {error * error, error, false}), 2,
              1e-9);
  expected.single = -1;
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::f32, 8, expected), 3 * std::sqrt(5) * u + u);
}

TEST(RoundingTiers, SmallTensorsMayHaveBadLuck) {
  Expected expected = tensor({63}, 1, 1, 1);
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::bf16, 4, expected), 4 * 0x1p-8);
  expected.shape = {};
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::bf16, 4, expected), 4 * 0x1p-8);
  expected.shape = {8, 8};
  EXPECT_DOUBLE_EQ(rounding_tolerance(DType::bf16, 4, expected), 0x1p-8);
}

TEST(RoundingTiers, AWrongRankAloneDoesNotExcuseTheOthers) {
  Expected expected = tensor({4096}, 1, 1, 1);
  expected.perturbed = 0x1p-8;
  for (const double single : {1.0, infinity}) {
    expected.single = single;
    EXPECT_GT(error_ratio(case_of(Tier::bf16, Operation::mlp, 8), expected, {1, 1, false}), 2);
    EXPECT_GT(error_ratio(case_of(Tier::bf16, Operation::mlp, 1), expected, {0.25, 0.5, false}), 2);
  }
}

TEST(Tiers, DemandsAreInWords) {
  EXPECT_NE(demand(case_of(Tier::f64)).find("1e-12"), std::string::npos);
  EXPECT_NE(demand(case_of(Tier::f64, Operation::model)).find("1e-10"), std::string::npos);
  EXPECT_NE(demand(case_of(Tier::bf16)).find("sqrt(1 + 4/2)"), std::string::npos);
  EXPECT_EQ(name(Tier::bf16), "bf16");
  EXPECT_EQ(exact_limit(DType::bf16), 256);
  EXPECT_EQ(exact_limit(DType::f32), 16777216);
}

}  // namespace
}  // namespace tpc
