// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/wording.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

TEST(Wording, CountsAndScoresOfDrawsDoNotMatter) {
  EXPECT_TRUE(reads_like("rank 0 (tp 0 of 2) and rank 1 agree at 2400 of 2400 elements (1.0000), z 48.4",
                         "rank 0 (tp 0 of 2) and rank 1 agree at 1920 of 1920 elements (1.0000), z 44.0"));
  EXPECT_TRUE(reads_like("masks agree at 9 of 12 (0.75)", "masks agree at 72 of 96 (0.75)"));
  EXPECT_TRUE(reads_like("the std of 2304 elements is 0.1034, 1.432 times",
                         "the std of 96 elements is 0.1019, 1.41 times"));
}

TEST(Wording, WhatIsSaidOfWhomMatters) {
  const char* const said = "w: rank 0 and rank 1 agree at 9 of 9 elements (1.0000), z 48.4";
  for (const char* other : {"v: rank 0 and rank 1 agree at 9 of 9 elements (1.0000), z 48.4",
                            "w: rank 0 and rank 2 agree at 9 of 9 elements (1.0000), z 48.4",
                            "w: rank 0 and rank 1 agree at 5 of 9 elements (0.5556), z 48.4",
                            "w: rank 0 and rank 1 agree at 9 of 9 elements (1.0000)", ""})
    EXPECT_FALSE(reads_like(said, other)) << other;
}

TEST(Wording, MeasuredRatiosMustBeNear) {
  EXPECT_FALSE(reads_like("is 0.1034, 1.432 times", "is 0.1034, 1.754 times"));
  EXPECT_FALSE(reads_like("is 0.1034, 1.432 times", "is 0.1034, 2 times"));
}

}  // namespace
}  // namespace tpc
