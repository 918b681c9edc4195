// SPDX-License-Identifier: Apache-2.0
// The libraries against plain loops. All data are small integers, so that every sum is exact and the answers
// must be equal.
#include <gtest/gtest.h>

#include <limits>

#include "reference/compute/compute.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::unwrapped;
using test::Values;
using test::wrapped;

struct GemmCase {
  std::int64_t batch, m, n, k;  // batch 0: no leading dim
  bool shared_b = false;
};

Shape matrix_shape(std::int64_t batch, std::int64_t rows, std::int64_t columns, Transpose transpose) {
  if (transpose == Transpose::yes) std::swap(rows, columns);
  return batch > 0 ? Shape{batch, rows, columns} : Shape{rows, columns};
}

// In {-1, 0, 0, 1}: sums over up to 200 terms fit in bf16.
Tensor small_integers(DType dtype, const Shape& shape, std::string_view name) {
  constexpr std::array<double, 4> alphabet = {-1, 0, 0, 1};
  Values values;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(alphabet[philox(hash_name(name), static_cast<std::uint64_t>(i))[0] % 4]);
  return wrapped(dtype, shape, values);
}

double entry(const Values& x, std::int64_t at, const GemmCase& c, bool of_a, std::int64_t row,
             std::int64_t column, Transpose transpose) {
  const std::int64_t rows = of_a ? c.m : c.k;
  const std::int64_t columns = of_a ? c.k : c.n;
  const std::int64_t local = transpose == Transpose::yes ? column * rows + row : row * columns + column;
  return x[static_cast<std::size_t>(at * rows * columns + local)];
}

Values plain_product(const GemmCase& c, const Values& a, Transpose ta, const Values& b, Transpose tb) {
  Values result;
  for (std::int64_t batch = 0; batch < std::max<std::int64_t>(c.batch, 1); ++batch)
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < c.k; ++l)
          sum += entry(a, batch, c, true, i, l, ta) * entry(b, c.shared_b ? 0 : batch, c, false, l, j, tb);
        result.push_back(sum);
      }
  return result;
}

void expect_plain_product(DType dtype, const GemmCase& c, Transpose ta, Transpose tb, bool accumulate) {
  const auto compute = make_host_compute();
  const Tensor a = small_integers(dtype, matrix_shape(c.batch, c.m, c.k, ta), "a");
  const Tensor b = small_integers(dtype, matrix_shape(c.shared_b ? 0 : c.batch, c.k, c.n, tb), "b");
  const Tensor product = compute->allocate(dtype, matrix_shape(c.batch, c.m, c.n, Transpose::no), "c");
  Values expected = plain_product(c, unwrapped(a), ta, unwrapped(b), tb);
  if (accumulate) {
    compute->fill(product, 3);
    for (double& value : expected) value += 3;
  }

  compute->gemm(product, a, ta, b, tb, accumulate);

  EXPECT_EQ(unwrapped(product), expected)
      << name(dtype) << " batch " << c.batch << " m " << c.m << " n " << c.n << " k " << c.k << " ta "
      << (ta == Transpose::yes) << " tb " << (tb == Transpose::yes) << " accumulate " << accumulate;
}

TEST(HostGemm, EqualsPlainLoops) {
  const std::vector<GemmCase> cases = {
      {0, 1, 1, 1},  {0, 3, 5, 7},       {0, 33, 17, 65},    {0, 1, 64, 31},     {0, 64, 1, 33}, {2, 3, 5, 7},
      {3, 16, 9, 4}, {3, 5, 7, 6, true}, {1, 4, 3, 2, true}, {0, 0, 3, 4},       {0, 3, 0, 4},   {0, 3, 4, 0},
      {2, 3, 4, 0},  {2, 3, 4, 0, true}, {2, 0, 3, 4, true}, {0, 129, 130, 131},
  };
  for (const DType dtype : float_dtypes)
    for (const GemmCase& c : cases)
      for (const Transpose ta : {Transpose::no, Transpose::yes})
        for (const Transpose tb : {Transpose::no, Transpose::yes})
          for (const bool accumulate : {false, true}) expect_plain_product(dtype, c, ta, tb, accumulate);
}

TEST(HostGemm, SeveralLeadingDims) {
  const auto compute = make_host_compute();
  const Tensor a = small_integers(DType::f32, {2, 3, 4, 5}, "a");
  const Tensor b = small_integers(DType::f32, {2, 3, 5, 6}, "b");
  const Tensor c = compute->allocate(DType::f32, {2, 3, 4, 6}, "c");

  compute->gemm(c, a, Transpose::no, b, Transpose::no);

  EXPECT_EQ(unwrapped(c),
            plain_product({6, 4, 6, 5}, unwrapped(a), Transpose::no, unwrapped(b), Transpose::no));
}

TEST(HostGemm, NoRowsInTheBatch) {
  const auto compute = make_host_compute();
  const Tensor none = compute->allocate(DType::bf16, {0, 4, 5}, "a");
  const Tensor c = compute->allocate(DType::bf16, {0, 4, 6}, "c");
  compute->gemm(c, none, Transpose::no, small_integers(DType::bf16, {5, 6}, "b"), Transpose::no);
  EXPECT_EQ(c.count(), 0);
}

// 1 + 257 is 258, which bf16 holds; 257 alone would become 256.
TEST(HostGemm, Bf16AccumulatesBeforeItRounds) {
  const auto compute = make_host_compute();
  const Tensor a = wrapped(DType::bf16, {1, 2}, {256, 1});
  const Tensor b = wrapped(DType::bf16, {2, 1}, {1, 1});
  const Tensor c = wrapped(DType::bf16, {1, 1}, {1});

  compute->gemm(c, a, Transpose::no, b, Transpose::no, true);

  EXPECT_EQ(unwrapped(c), Values{258});
}

TEST(HostGemm, LargeProductsOfGaussians) {
  const auto compute = make_host_compute();
  for (const DType dtype : float_dtypes) {
    const Tensor a = test::random_tensor(dtype, {65, 1031}, "a");
    const Tensor b = test::random_tensor(dtype, {40, 1031}, "b");
    const Tensor c = compute->allocate(dtype, {65, 40}, "c");
    compute->gemm(c, a, Transpose::no, b, Transpose::yes);
    const Values expected =
        plain_product({0, 65, 40, 1031}, unwrapped(a), Transpose::no, unwrapped(b), Transpose::yes);
    const double f32_sum = dtype == DType::f64 ? 0 : 64 * unit_roundoff(DType::f32);
    EXPECT_LE(test::relative_error(unwrapped(c), expected),
              (dtype == DType::f64 ? 64 : 1) * unit_roundoff(dtype) + f32_sum)
        << name(dtype);
  }
}

TEST(HostGemm, MisfitsAreContractErrors) {
  const auto compute = make_host_compute();
  const Tensor a = host_tensor(DType::f32, {2, 3});
  const Tensor b = host_tensor(DType::f32, {3, 4});
  const Tensor c = host_tensor(DType::f32, {2, 4});
  const auto multiply = [&](const Tensor& to, const Tensor& x, const Tensor& y) {
    compute->gemm(to, x, Transpose::no, y, Transpose::no);
  };
  multiply(c, a, b);
  EXPECT_THROW(multiply(c, b, a), ContractError);
  EXPECT_THROW(multiply(c, a, host_tensor(DType::f64, {3, 4})), ContractError);
  EXPECT_THROW(multiply(c, a, host_tensor(DType::f32, {1, 3, 4})), ContractError);
  EXPECT_THROW(multiply(c, a, host_tensor(DType::f32, {3})), ContractError);
  EXPECT_THROW(compute->gemm(c, a, Transpose::yes, b, Transpose::no), ContractError);
  EXPECT_THROW(multiply(host_tensor(DType::i64, {2, 4}), host_tensor(DType::i64, {2, 3}),
                        host_tensor(DType::i64, {3, 4})),
               ContractError);
}

}  // namespace
}  // namespace tpc
