// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "reference/compute/compute.hpp"
#include "reference/compute/strided_copy.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::unwrapped;
using test::Values;
using test::wrapped;

constexpr std::array<DType, 5> all_dtypes = {DType::f64, DType::f32, DType::bf16, DType::i64, DType::u8};

// 0, 1, 2, ... modulo 128, which every dtype holds.
Tensor counting(DType dtype, const Shape& shape) {
  Values values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) values.push_back(static_cast<double>(i % 128));
  return wrapped(dtype, shape, values);
}

std::vector<Shape> every_index(const Shape& extent) {
  std::vector<Shape> indices;
  for (std::int64_t flat = 0; flat < element_count(extent); ++flat) {
    Shape index(extent.size());
    std::int64_t rest = flat;
    for (std::size_t i = extent.size(); i > 0; --i) {
      index[i - 1] = rest % extent[i - 1];
      rest /= extent[i - 1];
    }
    indices.push_back(index);
  }
  return indices;
}

std::size_t flat_index(const Shape& index, const Shape& shape) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return static_cast<std::size_t>(flat);
}

Shape shifted(const Shape& index, const Shape& offset) {
  Shape sum = index;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += offset[i];
  return sum;
}

struct BlockCase {
  Shape y, y_offset, x, x_offset, extent;
};

TEST(HostMovement, CopyBlockEqualsIndexArithmetic) {
  const std::vector<BlockCase> cases = {
      {{6}, {1}, {5}, {2}, {3}},
      {{3, 4}, {1, 0}, {5, 4}, {2, 0}, {2, 4}},  // whole rows
      {{3, 4}, {0, 1}, {5, 6}, {2, 3}, {3, 2}},  // part of each
      {{2, 3, 4, 5}, {1, 0, 2, 1}, {2, 3, 3, 7}, {0, 1, 0, 4}, {1, 2, 2, 3}},
      {{2, 3, 4}, {0, 0, 0}, {2, 3, 4}, {0, 0, 0}, {2, 3, 4}},
      {{2, 3}, {1, 1}, {2, 3}, {2, 0}, {0, 2}},  // nothing, from the end
      {{1, 1, 3}, {0, 0, 2}, {3, 1, 1}, {2, 0, 0}, {1, 1, 1}},
      {{}, {}, {}, {}, {}},
  };
  const auto compute = make_host_compute();
  for (const DType dtype : all_dtypes)
    for (const BlockCase& c : cases) {
      const Tensor x = counting(dtype, c.x);
      const Tensor y = wrapped(dtype, c.y, Values(static_cast<std::size_t>(element_count(c.y)), 99));
      Values expected = unwrapped(y);
      for (const Shape& index : every_index(c.extent))
        expected[flat_index(shifted(index, c.y_offset), c.y)] =
            unwrapped(x)[flat_index(shifted(index, c.x_offset), c.x)];

      compute->copy_block(y, c.y_offset, x, c.x_offset, c.extent);

      EXPECT_EQ(unwrapped(y), expected) << name(dtype) << " " << to_string(c.extent);
    }
}

TEST(HostMovement, PermuteEqualsIndexArithmetic) {
  const std::vector<std::pair<Shape, std::vector<int>>> cases = {
      {{5}, {0}},
      {{3, 4}, {1, 0}},
      {{2, 3, 4}, {0, 1, 2}},
      {{2, 3, 4}, {2, 0, 1}},
      {{2, 3, 4}, {1, 2, 0}},
      {{2, 3, 4, 5}, {1, 2, 0, 3}},
      {{2, 3, 4, 5}, {3, 1, 2, 0}},
      {{1, 3, 1, 2}, {3, 0, 1, 2}},
      {{2, 0, 3}, {2, 1, 0}},
      {{}, {}},
  };
  const auto compute = make_host_compute();
  for (const DType dtype : all_dtypes)
    for (const auto& [shape, order] : cases) {
      const Tensor x = counting(dtype, shape);
      Shape to_shape;
      for (const int dim : order) to_shape.push_back(shape[static_cast<std::size_t>(dim)]);
      const Tensor y = wrapped(dtype, to_shape, Values(static_cast<std::size_t>(x.count()), 99));
      Values expected(unwrapped(y));
      for (const Shape& index : every_index(to_shape)) {
        Shape from(index.size());
        for (std::size_t i = 0; i < order.size(); ++i) from[static_cast<std::size_t>(order[i])] = index[i];
        expected[flat_index(index, to_shape)] = unwrapped(x)[flat_index(from, shape)];
      }

      compute->permute(y, x, order);

      EXPECT_EQ(unwrapped(y), expected) << name(dtype) << " " << to_string(shape);
    }
}

TEST(HostMovement, CopyConvertsBetweenAllDtypes) {
  const auto compute = make_host_compute();
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      const Tensor x = counting(from, {3, 7});
      const Tensor y = compute->allocate(to, {21}, "y");
      compute->copy(y, x);
      EXPECT_EQ(unwrapped(y), unwrapped(x)) << name(from) << " to " << name(to);
    }
}

// 1 + 2^-8 lies between two bf16; what is a hair above must go up, although f32 cannot tell it from the tie.
TEST(HostMovement, Bf16FromF64RoundsOnce) {
  const auto compute = make_host_compute();
  const Tensor x =
      wrapped(DType::f64, {5},
              {1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-50, -1 - 0x1p-8 - 0x1p-50, 1 + 0x3p-8 - 0x1p-50, 1e300});
  const Tensor y = compute->allocate(DType::bf16, {5}, "y");
  const Values expected = {1, 1 + 0x1p-7, -1 - 0x1p-7, 1 + 0x1p-7, std::numeric_limits<double>::infinity()};

  compute->copy(y, x);
  EXPECT_EQ(unwrapped(y), expected);
  for (int i = 0; i < 5; ++i) {
    compute->fill(y, x.data<double>()[i]);
    EXPECT_EQ(unwrapped(y)[2], expected[static_cast<std::size_t>(i)]);
  }
}

TEST(HostMovement, FillWritesEveryDtype) {
  const auto compute = make_host_compute();
  for (const DType dtype : all_dtypes) {
    const Tensor y = compute->allocate(dtype, {2, 3}, "y");
    compute->fill(y, 5);
    EXPECT_EQ(unwrapped(y), Values(6, 5)) << name(dtype);
    compute->fill(compute->allocate(dtype, {0}, "none"), 5);
  }
}

TEST(HostMovement, MisfitsAreContractErrors) {
  const auto compute = make_host_compute();
  const Tensor x = host_tensor(DType::f32, {2, 3});
  const Tensor y = host_tensor(DType::f32, {3, 2});
  EXPECT_THROW(compute->copy(host_tensor(DType::f32, {5}), x), ContractError);
  EXPECT_THROW(compute->permute(y, x, {0, 1}), ContractError);
  EXPECT_THROW(compute->permute(y, x, {1, 1}), ContractError);
  EXPECT_THROW(compute->permute(y, x, {1}), ContractError);
  EXPECT_THROW(compute->permute(y, x, {1, 2}), ContractError);
  EXPECT_THROW(compute->permute(host_tensor(DType::bf16, {3, 2}), x, {1, 0}), ContractError);
  EXPECT_THROW(compute->copy_block(y, {0, 0}, x, {0, 0}, {3, 2}), ContractError);
  EXPECT_THROW(compute->copy_block(y, {0, -1}, x, {0, 0}, {1, 1}), ContractError);
  EXPECT_THROW(compute->copy_block(y, {0}, x, {0, 0}, {1, 1}), ContractError);
}

}  // namespace
}  // namespace tpc
