// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/alpha_beta.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc::bench {
namespace {

using Kind = CollectiveKind;

TEST(LeastSquares, FindsTheCostsThatMadeTheTimes) {
  const std::vector<double> c =
      fit_relative({{1, 8}, {1, 1e6}, {1, 1e8}}, {3e-6 + 8e-9, 3e-6 + 1e-3, 3e-6 + 1e-1});
  EXPECT_NEAR(c[0], 3e-6, 1e-15);
  EXPECT_NEAR(c[1], 1e-9, 1e-18);
}

TEST(LeastSquares, ErrorsWeighRelativeToTheTime) {
  // One cost for two times that disagree by 2: minimising relative errors gives sum(1/t)/sum(1/t²),
  // minimising absolute ones would give the mean, 1.5.
  EXPECT_NEAR(fit_relative({{1}, {1}}, {1, 2})[0], 1.5 / 1.25, 1e-12);
}

TEST(LeastSquares, NoCostIsNegative) {
  const std::vector<double> c = fit_relative({{1, 1}, {1, 2}, {1, 4}}, {0.5, 1.6, 3.9});
  EXPECT_EQ(c[0], 0);
  EXPECT_GT(c[1], 0.5);
}

TEST(LeastSquares, TermsThatCannotBeToldApartAreOneTerm) {
  const std::vector<double> c = fit_relative({{2, 4}, {3, 6}}, {2, 3});
  EXPECT_NEAR(2 * c[0] + 4 * c[1], 2, 1e-9);
}

TEST(AlphaBeta, FitsALine) {
  const AlphaBeta line = fit_alpha_beta({{1e3, 1e-5 + 1e-6}, {1e6, 1e-5 + 1e-3}, {1e9, 1e-5 + 1}});
  EXPECT_NEAR(line.alpha_s, 1e-5, 1e-13);
  EXPECT_NEAR(line.s_per_byte, 1e-9, 1e-17);
}

TEST(AlphaBeta, GammaIsWhatReducingCostsBeyondSending) {
  const AlphaBetaGamma truth{2e-6, 1e-10, 4e-10};
  std::vector<CollectiveTiming> timings;
  for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter})
    for (const int ranks : {2, 4})
      for (const double bytes : {1e3, 1e6, 1e8})
        timings.push_back({kind, ranks, {bytes, truth.seconds(kind, Algorithm::ring, ranks, bytes)}});
  const AlphaBetaGamma fitted = fit_alpha_beta_gamma(Algorithm::ring, timings);
  EXPECT_NEAR(fitted.alpha_s / truth.alpha_s, 1, 1e-6);
  EXPECT_NEAR(fitted.beta_s_per_byte / truth.beta_s_per_byte, 1, 1e-6);
  EXPECT_NEAR(fitted.gamma_s_per_byte / truth.gamma_s_per_byte, 1, 1e-6);
}

TEST(AlphaBeta, OneRateDescribesTheSwitch) {
  const auto at = [](int n) {
    return CollectiveTiming{Kind::all_reduce, n, {1e9, 1e9 * (n + 1.0) / n / 3e11}};
  };
  EXPECT_NEAR(fit_in_switch_rate({at(5), at(8)}), 3e11, 1);
}

// 8 B to 128 MiB.
std::vector<double> sizes() {
  std::vector<double> all;
  for (int i = 0; i <= 12; ++i) all.push_back(8 * std::pow(4, i));
  return all;
}

TEST(Piecewise, OneLineWhereOneIsEnough) {
  std::vector<Timing> timings;
  for (const double bytes : sizes()) timings.push_back({bytes, 1e-6 + bytes * 1e-10});
  EXPECT_EQ(PiecewiseAlphaBeta::fit(timings).pieces().size(), 1U);
}

TEST(Piecewise, AChangeOfProtocolIsAnotherLine) {
  std::vector<Timing> timings;
  for (const double bytes : sizes())
    timings.push_back({bytes, bytes < 10000 ? 1e-6 + bytes * 1e-9 : 2e-5 + bytes * 1e-10});
  const PiecewiseAlphaBeta model = PiecewiseAlphaBeta::fit(timings);
  ASSERT_EQ(model.pieces().size(), 2U);
  EXPECT_NEAR(model.pieces()[0].up_to_bytes, 16384, 1);
  for (const Timing& t : timings) EXPECT_NEAR(model.seconds(t.payload_bytes) / t.seconds, 1, 1e-6);
  EXPECT_GT(model.seconds(1e12), 90);
}

TEST(Piecewise, FewSizesAreOneLine) {
  EXPECT_EQ(PiecewiseAlphaBeta::fit({{8, 1e-6}}).pieces().size(), 1U);
  EXPECT_THROW(PiecewiseAlphaBeta::fit({}), ContractError);
}

}  // namespace
}  // namespace tpc::bench
