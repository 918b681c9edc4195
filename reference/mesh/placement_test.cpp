// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/placement.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

TEST(Placement, ReplicateHoldsEverything) {
  const Placement p = replicate({3, 4});
  ASSERT_EQ(p.blocks.size(), 1U);
  EXPECT_EQ(p.blocks[0], (Block{{0, 0}, {3, 4}, {0, 0}}));
  EXPECT_TRUE(p.partial_over.empty());
}

TEST(Placement, ShardIsAnEqualPartOfOneDim) {
  const Placement p = shard({2, 6, 5}, 1, 2, 3);
  ASSERT_EQ(p.blocks.size(), 1U);
  EXPECT_EQ(p.blocks[0], (Block{{0, 4, 0}, {2, 2, 5}, {0, 0, 0}}));
  EXPECT_THROW(shard({2, 6, 5}, 1, 0, 4), ContractError);
  EXPECT_THROW(shard({2, 6, 5}, 3, 0, 1), ContractError);
  EXPECT_THROW(shard({2, 6, 5}, 1, 3, 3), ContractError);
}

TEST(Placement, ScalarsAndEmptyTensorsAreLegal) {
  EXPECT_EQ(replicate({}).blocks.size(), 1U);
  EXPECT_TRUE(replicate({0, 4}).blocks.empty());
  EXPECT_TRUE(shard({0, 4}, 0, 1, 2).blocks.empty());
}

TEST(Placement, PaddedRowsEndWithTheGlobalTensor) {
  const Shape vocab = {10, 4};  // padded to 16 over 4 ranks
  EXPECT_EQ(padded_rows(vocab, 0, 4, 4).blocks[0], (Block{{4, 0}, {4, 4}, {0, 0}}));
  EXPECT_EQ(padded_rows(vocab, 0, 8, 4).blocks[0], (Block{{8, 0}, {2, 4}, {0, 0}}));
  EXPECT_TRUE(padded_rows(vocab, 0, 12, 4).blocks.empty());
}

}  // namespace
}  // namespace tpc
