// SPDX-License-Identifier: Apache-2.0
#include "reference/core/tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tpc {
namespace {

TEST(Bf16, RoundsToNearestEven) {
  EXPECT_EQ(static_cast<float>(bf16(1.0F)), 1.0F);
  EXPECT_EQ(static_cast<float>(bf16(1.0F + 0x1p-8F)), 1.0F);                // tie, even below
  EXPECT_EQ(static_cast<float>(bf16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F);  // tie, even above
  EXPECT_EQ(static_cast<float>(bf16(1.0F + 0x1.02p-8F)), 1.0F + 0x1p-7F);   // just above the tie
  EXPECT_TRUE(std::isnan(static_cast<float>(bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(static_cast<float>(bf16(-std::numeric_limits<float>::infinity())),
            -std::numeric_limits<float>::infinity());
}

TEST(Tensor, ViewsShareElements) {
  const Tensor t = host_tensor(DType::f64, {4, 3});
  for (int i = 0; i < 12; ++i) t.data<double>()[i] = i;
  const Tensor rows = t.rows(1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(rows.data<double>()[0], 3);
  rows.reshaped({6}).data<double>()[5] = -1;
  EXPECT_EQ(t.data<double>()[8], -1);
}

TEST(Tensor, EmptyShapesAreLegal) {
  const Tensor none = host_tensor(DType::f32, {0, 5});
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.rows(0, 0).shape(), (Shape{0, 5}));
  EXPECT_EQ(host_tensor(DType::i64, {}).count(), 1);
}

TEST(Tensor, MisuseIsAContractError) {
  const Tensor t = host_tensor(DType::f32, {2, 3});
  EXPECT_THROW(t.data<double>(), ContractError);
  EXPECT_THROW(t.rows(1, 2), ContractError);
  EXPECT_THROW(t.reshaped({7}), ContractError);
  EXPECT_THROW(t.size(2), ContractError);
  EXPECT_EQ(t.size(-1), 3);
}

}  // namespace
}  // namespace tpc
