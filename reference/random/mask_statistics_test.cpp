// SPDX-License-Identifier: Apache-2.0
#include "reference/random/mask_statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/core/philox.hpp"
#include "reference/random/draws.hpp"
#include "reference/random/fourier.hpp"

namespace tpc {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes drawn(std::uint64_t key, std::size_t n, double p, std::uint64_t first = 0) {
  Bytes mask(n);
  for (std::size_t i = 0; i < n; ++i) mask[i] = philox(key, first + i)[0] >= drop_below(p) ? 1 : 0;
  return mask;
}

// b with every `every`-th position taken from a.
Bytes sharing(const Bytes& a, Bytes b, std::size_t every) {
  for (std::size_t i = 0; i < a.size(); i += every) b[i] = a[i];
  return b;
}

TEST(MaskStatistics, ByHand) {
  const Bytes a = {1, 0, 1, 1};
  const Bytes b = {1, 0, 0, 1};
  EXPECT_DOUBLE_EQ(keep_rate(a, 0.5).measured, 0.75);
  EXPECT_DOUBLE_EQ(keep_rate(a, 0.5).z, 0.25 / std::sqrt(0.25 / 4));
  EXPECT_DOUBLE_EQ(agreement(a, b, 0.1).measured, 0.75);
  EXPECT_DOUBLE_EQ(agreement(a, b, 0.1).expected, 0.82);
  EXPECT_DOUBLE_EQ(joint_drop_rate({a, b}, 0.5).measured, 0.25);
  EXPECT_DOUBLE_EQ(joint_drop_rate({a, b}, 0.5).expected, 0.25);
  // Drops per position 0, 2, 1, 0 about 1, over a variance of 1/2.
  EXPECT_DOUBLE_EQ(dispersion({a, b}, 0.5).measured, 3.0 / 4 / 0.5);
  EXPECT_THROW(agreement(a, Bytes{1}, 0.1), ContractError);
  EXPECT_THROW(keep_rate(Bytes{}, 0.1), ContractError);
  EXPECT_THROW(keep_rate(a, 0), ContractError);
  EXPECT_THROW(dispersion({}, 0.1), ContractError);
}

TEST(Fourier, CorrelatesAsPlainLoopsDo) {
  for (const std::size_t n : {1U, 2U, 3U, 5U, 8U, 13U}) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(gaussian(philox(1, i)));
      b.push_back(gaussian(philox(2, i)));
    }
    const std::vector<double> c = cross_correlation(a, b);
    ASSERT_EQ(c.size(), 2 * n - 1);
    for (std::size_t at = 0; at < c.size(); ++at) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t j = i + at + 1 - n;  // wraps to a huge index where out of range
        if (j < n) sum += a[i] * b[j];
      }
      EXPECT_NEAR(c[at], sum, 1e-12) << n << " lag " << at;
    }
  }
  std::vector<std::complex<double>> three(3);
  EXPECT_THROW(fourier_transform(three, Fourier::forward), ContractError);
}

class Calibration : public testing::TestWithParam<double> {};

// z values of masks that are independent have mean 0 and variance 1, and none is an alarm.
TEST_P(Calibration, CleanMasksRaiseNoAlarm) {
  const double p = GetParam();
  constexpr std::uint64_t pairs = 500;
  double sum[4] = {};
  double squares[4] = {};
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const Bytes a = drawn(2 * i, 4096, p);
    const Bytes b = drawn(2 * i + 1, 4096, p);
    const double z[4] = {keep_rate(a, p).z, agreement(a, b, p).z, dispersion({a, b}, p).z,
                         joint_drop_rate({a, b}, p).z};
    for (int k = 0; k < 4; ++k) {
      EXPECT_LT(std::abs(z[k]), alarm_z) << "statistic " << k;
      sum[k] += z[k];
      squares[k] += z[k] * z[k];
    }
  }
  for (int k = 0; k < 4; ++k) {
    EXPECT_LT(std::abs(sum[k] / pairs), 5 / std::sqrt(pairs)) << "statistic " << k;
    EXPECT_NEAR(squares[k] / pairs, 1, 0.35) << "statistic " << k;
  }
}
INSTANTIATE_TEST_SUITE_P(DropRates, Calibration, testing::Values(0.1, 0.5));

TEST(MaskStatistics, DispersionCountsWhoShares) {
  constexpr std::size_t n = 65536;
  for (const double p : {0.1, 0.5}) {
    std::vector<Bytes> masks;
    for (std::uint64_t r = 0; r < 8; ++r) masks.push_back(drawn(40 + r, n, p));
    const auto measured = [&] { return dispersion({masks.begin(), masks.end()}, p); };
    EXPECT_LT(std::abs(measured().z), alarm_z);
    EXPECT_NEAR(measured().measured, 1, 0.03);
    masks[5] = masks[2];
    EXPECT_NEAR(measured().measured, 1 + 2.0 / 8, 0.03);
    EXPECT_GT(measured().z, alarm_z);
    for (Bytes& mask : masks) mask = masks[0];
    EXPECT_NEAR(measured().measured, 8, 0.3);
  }
}

TEST(MaskStatistics, SharedNumbersAreSeenFromTheStatedShareOn) {
  constexpr std::size_t n = 16384;
  const Bytes a = drawn(1, n, 0.1);
  const Bytes b = drawn(2, n, 0.1);
  EXPECT_LT(std::abs(agreement(a, b, 0.1).z), alarm_z);
  EXPECT_GT(agreement(a, a, 0.1).z, alarm_z);
  EXPECT_LT(smallest_visible_share(n, 0.1), 0.25);
  EXPECT_GT(agreement(a, sharing(a, b, 4), 0.1).z, alarm_z);
  EXPECT_LT(agreement(a, sharing(a, b, 40), 0.1).z, alarm_z);
  EXPECT_EQ(smallest_visible_share(4, 0.1), 1);
  EXPECT_NEAR(expected_false_alarms(4.4e6), 3.5e-4, 0.1e-4);
}

TEST(MaskStatistics, SeesAnotherDropRate) {
  EXPECT_GT(keep_rate(drawn(1, 230000, 0.09), 0.1).z, alarm_z);
  EXPECT_LT(keep_rate(drawn(1, 230000, 0.11), 0.1).z, -alarm_z);
}

TEST(MaskStatistics, JointDropsTellSharedFromIndependent) {
  std::vector<Bytes> masks;
  for (std::uint64_t r = 0; r < 8; ++r) masks.push_back(drawn(60 + r, 26000, 0.5));
  EXPECT_LT(std::abs(joint_drop_rate({masks.begin(), masks.end()}, 0.5).z), alarm_z);
  for (Bytes& mask : masks) mask = masks[0];
  EXPECT_NEAR(joint_drop_rate({masks.begin(), masks.end()}, 0.5).measured, 0.5, 0.02);
}

TEST(CorrelationPeak, FindsAShiftedStreamThatTheAlignedTestPasses) {
  for (const double p : {0.1, 0.5}) {
    const Bytes a = drawn(7, 4096, p);
    for (const std::uint64_t shift : {1U, 64U, 1500U}) {
      const Bytes later = drawn(7, 4096, p, shift);
      EXPECT_LT(std::abs(agreement(a, later, p).z), alarm_z);
      const CorrelationPeak peak = correlation_peak(a, later);
      EXPECT_TRUE(is_shifted_copy(peak)) << "shift " << shift << ", " << peak.sigmas << " sigma";
      EXPECT_EQ(peak.lag, -static_cast<std::int64_t>(shift));
      EXPECT_NEAR(peak.correlation, 1, 0.05);
      EXPECT_EQ(correlation_peak(later, a).lag, static_cast<std::int64_t>(shift));
    }
    const CorrelationPeak quarter = correlation_peak(a, sharing(a, drawn(8, 4096, p), 4));
    EXPECT_TRUE(is_shifted_copy(quarter)) << quarter.sigmas;
    EXPECT_EQ(quarter.lag, 0);
  }
}

TEST(CorrelationPeak, IsQuietOnCleanMasks) {
  for (const double p : {0.02, 0.1, 0.5, 0.9})
    for (std::uint64_t i = 0; i < 40; ++i) {
      const CorrelationPeak peak = correlation_peak(drawn(2 * i, 4096, p), drawn(2 * i + 1, 4096, p));
      EXPECT_FALSE(is_shifted_copy(peak)) << p << ": " << peak.sigmas << " sigma";
      EXPECT_GT(peak.by_chance, 1e-6);
    }
}

TEST(CorrelationPeak, SeesTheComplementToo) {
  const Bytes a = drawn(7, 4096, 0.5);
  Bytes flipped = a;
  for (std::uint8_t& one : flipped) one ^= 1U;
  const CorrelationPeak peak = correlation_peak(a, flipped);
  EXPECT_TRUE(is_shifted_copy(peak));
  EXPECT_NEAR(peak.correlation, -1, 1e-9);
}

// Masks too small or too even to tell anything are not accused.
TEST(CorrelationPeak, StaysSilentWhereThereIsNothingToSee) {
  const Bytes all_kept(64, 1);
  EXPECT_FALSE(is_shifted_copy(correlation_peak(all_kept, all_kept)));
  const Bytes one = {1};
  EXPECT_FALSE(is_shifted_copy(correlation_peak(one, one)));
}

}  // namespace
}  // namespace tpc
