// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/buffers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tpc {
namespace {

Tensor bf16_values(const std::vector<float>& values) {
  const Tensor tensor = host_tensor(DType::bf16, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) tensor.data<bf16>()[i] = bf16(values[i]);
  return tensor;
}

TEST(Reduction, RoundsBf16AfterEachAddition) {
  const Tensor sum = bf16_values({256});
  for (int i = 0; i < 3; ++i) reduce_into(sum, bf16_values({1}), ReduceOp::sum);
  EXPECT_EQ(static_cast<float>(sum.data<bf16>()[0]), 256);  // each 1 is lost; added first they would count
  reduce_into(sum, bf16_values({3}), ReduceOp::sum);
  EXPECT_EQ(static_cast<float>(sum.data<bf16>()[0]), 260);  // 259 is a tie between 258 and 260
}

TEST(Reduction, WrapsIntegersAround) {
  const Tensor a = host_tensor(DType::i64, {2});
  const Tensor b = host_tensor(DType::i64, {2});
  a.data<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::max();
  b.data<std::int64_t>()[0] = 1;
  a.data<std::int64_t>()[1] = -3;
  b.data<std::int64_t>()[1] = 5;
  reduce_into(a, b, ReduceOp::sum);
  EXPECT_EQ(a.data<std::int64_t>()[0], std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(a.data<std::int64_t>()[1], 2);
  reduce_into(a, b, ReduceOp::product);
  EXPECT_EQ(a.data<std::int64_t>()[1], 10);
}

TEST(Reduction, RefusesUnequalOperands) {
  const Tensor a = host_tensor(DType::f64, {2});
  EXPECT_THROW(reduce_into(a, host_tensor(DType::f64, {3}), ReduceOp::sum), ContractError);
  EXPECT_THROW(reduce_into(a, host_tensor(DType::i64, {2}), ReduceOp::sum), ContractError);
}

TEST(Buffers, OverlapIsAboutBytes) {
  const Tensor t = host_tensor(DType::f32, {6});
  EXPECT_TRUE(overlap(t, t.rows(5, 1)));
  EXPECT_FALSE(overlap(t.rows(0, 3), t.rows(3, 3)));
  EXPECT_FALSE(overlap(t.rows(2, 0), t));
  EXPECT_FALSE(overlap(t, host_tensor(DType::f32, {6})));
}

}  // namespace
}  // namespace tpc
