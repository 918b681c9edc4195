// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/gradient_norms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tpc {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Three ranks hold 4, 5 and 7 of what is cut, and 9 of what is not.
NormParts sums(double p = 2) { return {p, {4, 5, 7}, 9, {{"w", 17}, {"gain", 6}, {"bias", 2}}}; }
NormParts largest() { return {infinite, {4, 5, 7}, 6, {{"w", 7}, {"gain", 6}}}; }

std::string found(const NormParts& parts, const std::vector<double>& by_rank) {
  return norm_finding(parts, by_rank).value_or("");
}
std::string found(const NormParts& parts, double norm) {
  return found(parts, std::vector<double>(parts.sharded.size(), norm));
}

TEST(GradientNorms, SayNothingOfWhatIsRightOrUnknown) {
  EXPECT_EQ(found(sums(), 5), "");
  EXPECT_EQ(found(largest(), 7), "");
  EXPECT_EQ(found(sums(), 5.25), "");
  EXPECT_EQ(found(sums(), std::nan("")), "");
}

TEST(GradientNorms, KnowHowSumsGoWrong) {
  EXPECT_EQ(found(sums(), std::sqrt(16 + 27)),
            "parameters that all ranks hold count once per rank (fault TP-94)");
  EXPECT_EQ(found(sums(), std::sqrt(4 + 9)),
            "of the parameters that are cut the first rank's part alone counts (fault TP-96)");
  EXPECT_EQ(found(sums(), {std::sqrt(4 + 9), std::sqrt(5 + 9), std::sqrt(7 + 9)}),
            "each rank has the norm of what it holds alone: the sum over the ranks is missing");
  EXPECT_EQ(found(sums(), 4), "parameters that all ranks hold are left out");
  EXPECT_EQ(found(sums(), 3), "parameters that are cut are left out");
  EXPECT_EQ(found(sums(), std::sqrt(13) + std::sqrt(14) + 4),
            "the norms of the ranks are added up, where their powers should be");
  EXPECT_EQ(found(sums(), 25), "the root is not taken");
  EXPECT_EQ(found(sums(3), std::cbrt((16.0 + 27) / 3)), "the powers of the ranks are averaged");
}

TEST(GradientNorms, KnowHowMaximaGoWrong) {
  const std::string added =
      "the largest elements of the ranks are added up, where the largest of them is meant";
  EXPECT_EQ(found(largest(), 4 + 5 + 7), added);
  EXPECT_EQ(found(largest(), 6 + 6 + 7), added);
  EXPECT_EQ(
      found(largest(), {6, 6, 7}),
      "each rank has the largest element of what it holds alone: the maximum over the ranks is missing");
}

TEST(GradientNorms, KnowAGradientThatDoesNotCountOnce) {
  EXPECT_EQ(found(sums(), std::sqrt(23)), "the gradient of bias is left out");
  EXPECT_EQ(found(sums(), std::sqrt(31)), "the gradient of gain counts twice");
  EXPECT_EQ(found(sums(), std::sqrt(37)), "the gradient of gain counts once per rank");
}

}  // namespace
}  // namespace tpc
