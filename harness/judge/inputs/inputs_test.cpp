// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "harness/judge/inputs/rounding.hpp"

namespace tpc {
namespace {

using Kind = Generator::Kind;

Problem problem_with(const InputSpec& input, DType dtype = DType::f64) {
  Problem problem;
  problem.dtype = dtype;
  problem.seed = 7;
  problem.inputs = {input};
  return problem;
}

std::vector<double> whole(const Problem& problem) {
  const InputSpec& input = problem.inputs[0];
  return draw(problem, input, Shape(input.shape.size(), 0), input.shape);
}

TEST(Inputs, ABlockIsTheSamePartOfTheWhole) {
  for (const Kind kind : {Kind::gaussian, Kind::integers, Kind::sparse, Kind::norm_rows, Kind::paired_rows,
                          Kind::peaked_logits, Kind::provenance}) {
    const Problem problem = problem_with({"x", {3, 4, 10}, {kind, -2, 3, 0.5}});
    const std::vector<double> all = whole(problem);
    const Shape offset = {1, 1, 3};
    const Shape extent = {2, 3, 5};

    const std::vector<double> part = draw(problem, problem.inputs[0], offset, extent);

    ASSERT_EQ(part.size(), 30U);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t s = 1 + i / 15;
      const std::size_t b = 1 + i / 5 % 3;
      const std::size_t c = 3 + i % 5;
      EXPECT_EQ(part[i], all[(s * 4 + b) * 10 + c]) << static_cast<int>(kind) << " element " << i;
    }
  }
}

TEST(Inputs, FullTrailingDimsAndEmptyBlocks) {
  const Problem problem = problem_with({"x", {4, 3, 2}, {Kind::gaussian, 0, 1}});
  const std::vector<double> all = whole(problem);

  const std::vector<double> rows = draw(problem, problem.inputs[0], {1, 0, 0}, {2, 3, 2});

  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin() + 6));
  EXPECT_TRUE(draw(problem, problem.inputs[0], {4, 0, 0}, {0, 3, 2}).empty());
  EXPECT_THROW(draw(problem, problem.inputs[0], {3, 0, 0}, {2, 3, 2}), ContractError);
}

TEST(Inputs, ScalarsAndConstants) {
  const Problem scalar = problem_with({"dloss", {}, {Kind::constant, 0.75}});
  EXPECT_EQ(whole(scalar), std::vector<double>{0.75});
  EXPECT_EQ(whole(problem_with({"dloss", {1}, {Kind::constant, 0.75}})), std::vector<double>{0.75});
}

TEST(Inputs, SeedNameAndIndexDecide) {
  const InputSpec x = {"x", {64}, {Kind::gaussian, 0, 1}};
  InputSpec z = x;
  z.name = "z";
  Problem other = problem_with(x);
  other.seed = 8;

  EXPECT_EQ(whole(problem_with(x)), whole(problem_with(x)));
  EXPECT_NE(whole(problem_with(x)), whole(problem_with(z)));
  EXPECT_NE(whole(problem_with(x)), whole(other));
}

TEST(Inputs, GaussianHasItsMeanAndSpread) {
  const std::vector<double> g = whole(problem_with({"x", {40000}, {Kind::gaussian, 0.25, 2}}));
  const double mean = std::accumulate(g.begin(), g.end(), 0.0) / 40000;
  double variance = 0;
  for (const double value : g) variance += (value - mean) * (value - mean) / 40000;

  EXPECT_NEAR(mean, 0.25, 0.06);
  EXPECT_NEAR(variance, 4, 0.2);
}

TEST(Inputs, IntegersReachBothEndsAndScale) {
  const std::vector<double> n = whole(problem_with({"x", {2000}, {Kind::integers, -3, 4, 0, -2}}));

  EXPECT_EQ(std::set<double>(n.begin(), n.end()),
            (std::set<double>{-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1}));
}

TEST(Inputs, SparseHasItsShares) {
  const std::vector<double> n = whole(problem_with({"x", {40000}, {Kind::sparse, 1, 0, 0.25, 6}}));
  const auto share = [&](double value) {
    return static_cast<double>(std::count(n.begin(), n.end(), value)) / 40000;
  };

  EXPECT_NEAR(share(1), 0.75, 0.02);
  EXPECT_NEAR(share(65), 0.1875, 0.02);
  EXPECT_NEAR(share(-63), 0.0625, 0.02);
}

TEST(Inputs, TensorsHoldTheRoundedValues) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Problem problem = problem_with({"x", {3, 7}, {Kind::gaussian, 0.3, 1}}, dtype);
    const Tensor tensor = draw_tensor(problem, problem.inputs[0], {0, 0}, {3, 7});
    const std::vector<double> rounded = draw_rounded(problem, problem.inputs[0]);

    ASSERT_EQ(tensor.dtype(), dtype);
    visit_float(dtype, [&](auto zero) {
      for (std::size_t i = 0; i < rounded.size(); ++i)
        EXPECT_EQ(static_cast<double>(tensor.data<decltype(zero)>()[i]), rounded[i]);
    });
    EXPECT_EQ(dtype == DType::f64, rounded == whole(problem));
  }
}

TEST(Inputs, IntegralDtypesOfCollectives) {
  const Problem ints = problem_with({"in", {2, 5}, {Kind::integers, -5, 5}}, DType::i64);
  const Problem bytes = problem_with({"in", {2, 5}, {Kind::integers, 0, 200}}, DType::u8);

  const Tensor wide = draw_tensor(ints, ints.inputs[0], {1, 0}, {1, 5});
  const Tensor narrow = draw_tensor(bytes, bytes.inputs[0], {0, 0}, {2, 5});

  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(static_cast<double>(wide.data<std::int64_t>()[i]), whole(ints)[5 + i]);
    EXPECT_EQ(static_cast<double>(narrow.data<std::uint8_t>()[i]), whole(bytes)[i]);
  }
}

TEST(Inputs, Bf16IsRoundedOnce) {
  const double beside_tie = 1.00390625 + 0x1p-40;  // half way between two bf16, and a little more

  EXPECT_EQ(static_cast<float>(round_to_bf16(beside_tie)), 1.0078125F);
  EXPECT_EQ(static_cast<float>(bf16(static_cast<float>(beside_tie))), 1.0F) << "twice rounded, as a control";
  EXPECT_EQ(static_cast<float>(round_to_bf16(-beside_tie)), -1.0078125F);
  EXPECT_EQ(static_cast<float>(round_to_bf16(1.00390625)), 1.0F);
  EXPECT_TRUE(std::isnan(static_cast<float>(round_to_bf16(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_TRUE(std::isinf(static_cast<float>(round_to_bf16(1e300))));
}

}  // namespace
}  // namespace tpc
