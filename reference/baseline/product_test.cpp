// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/core/contract.hpp"
#include "reference/core/philox.hpp"

namespace tpc::baseline {
namespace {

double element(const MatrixView& view, std::int64_t row, std::int64_t col) {
  return view.transposed ? view.data[col * view.stride + row] : view.data[row * view.stride + col];
}

// The product as three loops, and the sum of magnitudes behind each element.
struct Plain {
  Values value;
  Values magnitudes;
};
Plain plain_product(const MatrixView& a, const MatrixView& b, std::int64_t rows, std::int64_t inner,
                    std::int64_t cols) {
  Plain result{Values(rows * cols), Values(rows * cols)};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t k = 0; k < inner; ++k) {
        const double term = element(a, i, k) * element(b, k, j);
        result.value[i * cols + j] += term;
        result.magnitudes[i * cols + j] += std::fabs(term);
      }
  return result;
}

Values gaussians(std::uint64_t key, std::int64_t count) {
  Values values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = 0.5 + gaussian(philox(key, i));
  return values;
}

struct Case {
  std::int64_t rows, inner, cols;
  bool a_transposed, b_transposed;
};

class Product : public testing::TestWithParam<Case> {
 protected:
  // [rows, cols] inside rows that are two elements longer.
  static MatrixView inside(const Values& values, std::int64_t rows, std::int64_t cols, bool transposed) {
    return transposed ? MatrixView{values.data() + 1, cols, rows, rows + 2, true}
                      : MatrixView{values.data() + 1, rows, cols, cols + 2, false};
  }
  static std::int64_t room(std::int64_t rows, std::int64_t cols) { return (rows + 2) * (cols + 2); }
};

TEST_P(Product, EqualsPlainLoops) {
  const auto [rows, inner, cols, a_transposed, b_transposed] = GetParam();
  const Values a_values = gaussians(1, room(rows, inner));
  const Values b_values = gaussians(2, room(inner, cols));
  const MatrixView a = inside(a_values, rows, inner, a_transposed);
  const MatrixView b = inside(b_values, inner, cols, b_transposed);
  const Plain plain = plain_product(a, b, rows, inner, cols);
  const Values got = product(a, b);
  ASSERT_EQ(got.size(), plain.value.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], plain.value[i], 1e-14 * plain.magnitudes[i]);
}

TEST_P(Product, IsExactOnSmallIntegers) {
  const auto [rows, inner, cols, a_transposed, b_transposed] = GetParam();
  Values a_values = gaussians(3, room(rows, inner));
  Values b_values = gaussians(4, room(inner, cols));
  for (Values* values : {&a_values, &b_values})
    for (double& value : *values) value = std::round(8 * value);
  const MatrixView a = inside(a_values, rows, inner, a_transposed);
  const MatrixView b = inside(b_values, inner, cols, b_transposed);
  EXPECT_EQ(product(a, b), plain_product(a, b, rows, inner, cols).value);
}

INSTANTIATE_TEST_SUITE_P(Baseline, Product,
                         testing::Values(Case{1, 1, 1, false, false}, Case{3, 5, 2, false, true},
                                         Case{7, 1, 3, true, false}, Case{65, 130, 33, true, true},
                                         Case{129, 257, 66, false, false}, Case{0, 3, 4, false, false},
                                         Case{3, 0, 4, false, true}, Case{3, 4, 0, true, false}));

TEST(Product, AddsIntoRowsWithAStride) {
  const Values a = {1, 2, 3, 4};
  Values target = {10, 20, -1, 30, 40, -1};
  add_product(matrix(a, 2, 2), transpose(matrix(a, 2, 2)), {target.data(), 3});
  EXPECT_EQ(target, (Values{15, 31, -1, 41, 65, -1}));
}

TEST(Product, RefusesUnequalInnerExtents) {
  const Values a(6);
  EXPECT_THROW(product(matrix(a, 2, 3), matrix(a, 2, 3)), ContractError);
}

}  // namespace
}  // namespace tpc::baseline
