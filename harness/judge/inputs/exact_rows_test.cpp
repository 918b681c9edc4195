// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/exact_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/inputs.hpp"

namespace tpc {
namespace {

using Kind = Generator::Kind;

TEST(NormRows, HaveZeroSumAndMeanSquareOne) {
  for (const std::int64_t width : {2, 4, 6, 8, 16, 41 * 2, 96, 768}) {
    for (std::int64_t row = 0; row < 5; ++row) {
      std::int64_t sum = 0;
      std::int64_t squares = 0;
      for (const int code : norm_row(3, row, width)) {
        sum += code;
        squares += code * code;
      }
      EXPECT_EQ(sum, 0) << width;
      EXPECT_EQ(squares, width) << width;
    }
  }
  EXPECT_NE(norm_row(3, 0, 96), norm_row(3, 1, 96));
  EXPECT_THROW(norm_row(3, 0, 7), ContractError);
}

TEST(NormRows, TheEpsilonIsAbsorbed) {
  EXPECT_EQ(1 / std::sqrt(0x1p40 + 1e-5), 0x1p-20);
  EXPECT_EQ(1 / std::sqrt(0x1p40F + 1e-5F), 0x1p-20F);
  EXPECT_NE(1 / std::sqrt(1 + 1e-5), 1) << "the reason why the entries are large";
}

Problem norm_problem() {
  Problem problem;
  problem.seed = 11;
  problem.inputs = {{"x", {4, 2, 96}, {Kind::norm_rows}},
                    {"gain", {96}, {Kind::integers, 1, 2}},
                    {"dy", {4, 2, 96}, {Kind::paired_rows, 1, 0, 0.5}}};
  return problem;
}

TEST(PairedRows, HaveNoMeanAndNoPartAlongTheRow) {
  const Problem problem = norm_problem();
  const std::vector<double> x = draw_rounded(problem, problem.inputs[0]);
  const std::vector<double> gain = draw_rounded(problem, problem.inputs[1]);
  const std::vector<double> dy = draw_rounded(problem, problem.inputs[2]);
  double active = 0;
  for (std::size_t row = 0; row < 8; ++row) {
    double mean = 0;
    double along = 0;
    for (std::size_t c = 0; c < 96; ++c) {
      const double g = dy[row * 96 + c] * gain[c];
      mean += g;
      along += g * x[row * 96 + c];
      active += std::fabs(dy[row * 96 + c]);
    }
    EXPECT_EQ(mean, 0);
    EXPECT_EQ(along, 0);
  }
  EXPECT_GT(active, 200);
  EXPECT_LT(active, 600);
}

TEST(PeakedLogits, EveryRowHasOneLargestEntryFarAbove) {
  Problem problem;
  problem.inputs = {{"logits", {3, 2, 50}, {Kind::peaked_logits, -3, 3}}};
  const std::vector<double> logits = draw_rounded(problem, problem.inputs[0]);
  for (std::size_t row = 0; row < 6; ++row) {
    std::vector<double> sorted(logits.begin() + static_cast<std::ptrdiff_t>(row * 50),
                               logits.begin() + static_cast<std::ptrdiff_t>(row * 50 + 50));
    std::sort(sorted.rbegin(), sorted.rend());
    EXPECT_GE(sorted[0] - sorted[1], 1024);
    EXPECT_EQ(std::fmod(sorted[0], 1024), 0);
    EXPECT_EQ(std::exp(static_cast<float>(sorted[1] - sorted[0])), 0);
  }
}

}  // namespace
}  // namespace tpc
