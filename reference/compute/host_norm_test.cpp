// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reference/compute/compute.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::unwrapped;
using test::Values;
using test::wrapped;

constexpr double eps = 1e-5;

class NormKernels : public testing::TestWithParam<DType> {
 protected:
  Tensor tensor(const Shape& shape, const Values& values) const { return wrapped(GetParam(), shape, values); }
  Tensor same(std::int64_t width, double value) const {
    return tensor({width}, Values(static_cast<std::size_t>(width), value));
  }
  Tensor unwritten(const Shape& shape) { return compute->allocate(GetParam(), shape, "y"); }
  Tensor stats(std::int64_t rows) {
    return compute->allocate(statistics_dtype(GetParam()), {rows}, "statistics");
  }

  std::unique_ptr<Compute> compute = make_host_compute();
};
INSTANTIATE_TEST_SUITE_P(, NormKernels, testing::ValuesIn(float_dtypes),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

// Entries a·{0, +-1, +-2} with a = 2^20 and as many of each sign, whose squares are a^2 on average: eps
// vanishes beside the variance of 2^40, and 1/rms is 2^-20 to the bit.
Values exact_row(std::int64_t width) {
  Values row;
  for (std::int64_t i = 0; i < width / 16; ++i) row.insert(row.end(), {0x1p21, 0, 0, 0, -0x1p21, 0, 0, 0});
  while (static_cast<std::int64_t>(row.size()) < width) row.push_back(row.size() % 2 == 0 ? 0x1p20 : -0x1p20);
  return row;
}

// Among the widths are some whose rounded inverse would not do: 82, 94 (f32) and 98 (f64).
TEST_P(NormKernels, LayerNormIsExactOnExactRows) {
  for (const std::int64_t width : {2, 64, 82, 94, 98, 768, 4096}) {
    const Tensor x = tensor({1, width}, exact_row(width));
    const Tensor y = unwritten({1, width});
    const Tensor mean = stats(1);
    const Tensor rstd = stats(1);
    Values expected = unwrapped(x);
    for (double& entry : expected) entry = entry * 0x1p-20 * 3 - 1;

    compute->layer_norm(y, mean, rstd, x, same(width, 3), same(width, -1), eps);

    EXPECT_EQ(unwrapped(y), expected) << width;
    EXPECT_EQ(unwrapped(mean), Values{0});
    EXPECT_EQ(unwrapped(rstd), Values{0x1p-20});
  }
}

TEST_P(NormKernels, RmsNormIsExactOnExactRows) {
  for (const std::int64_t width : {1, 3, 41, 47, 49, 55, 98, 768}) {
    const Tensor x = width % 2 == 0 ? tensor({1, width}, exact_row(width))
                                    : tensor({1, width}, Values(static_cast<std::size_t>(width), -0x1p20));
    const Tensor y = unwritten({1, width});
    const Tensor rstd = stats(1);
    Values expected = unwrapped(x);
    for (double& entry : expected) entry *= 0x1p-20 * 3;

    compute->rms_norm(y, rstd, x, same(width, 3), eps);

    EXPECT_EQ(unwrapped(y), expected) << width;
    EXPECT_EQ(unwrapped(rstd), Values{0x1p-20});
  }
}

// A mean far above the spread: a variance from the mean of squares would have no digit left in f32.
TEST_P(NormKernels, VarianceTakesTwoPasses) {
  const Tensor x = tensor({2, 4}, {130, 126, 130, 126, -126, -130, -126, -130});
  const Tensor y = unwritten({2, 4});
  const Tensor mean = stats(2);
  const Tensor rstd = stats(2);

  compute->layer_norm(y, mean, rstd, x, same(4, 1), same(4, 0), 0);

  EXPECT_EQ(unwrapped(y), (Values{1, -1, 1, -1, 1, -1, 1, -1}));
  EXPECT_EQ(unwrapped(mean), (Values{128, -128}));
  EXPECT_EQ(unwrapped(rstd), (Values{0.5, 0.5}));
}

TEST_P(NormKernels, EpsilonIsInsideTheRoot) {
  const Tensor y = unwritten({1, 2});
  const Tensor mean = stats(1);
  const Tensor rstd = stats(1);
  compute->layer_norm(y, mean, rstd, tensor({1, 2}, {3, 3}), same(2, 1), same(2, 5), 0.25);
  EXPECT_EQ(unwrapped(rstd), Values{2});
  EXPECT_EQ(unwrapped(y), (Values{5, 5}));
  compute->rms_norm(y, rstd, tensor({1, 2}, {1, -1}), same(2, 1), 3);
  EXPECT_EQ(unwrapped(y), (Values{0.5, -0.5}));
}

// +c and -c on entries of equal normal value: both means vanish, and dx = rstd·dy·gain.
TEST_P(NormKernels, BackwardIsExactOnCraftedGradients) {
  const Tensor x = tensor({1, 4}, {0x1p20, 0x1p20, -0x1p20, -0x1p20});
  const Tensor dy = tensor({1, 4}, {3, -3, 5, -5});
  const Tensor dx = unwritten({1, 4});
  const Tensor dgain = unwritten({4});
  const Tensor dbias = unwritten({4});
  const Tensor rstd = wrapped(statistics_dtype(GetParam()), {1}, {0x1p-20});
  const Tensor mean = wrapped(statistics_dtype(GetParam()), {1}, {0});
  const Values expected = {6 * 0x1p-20, -6 * 0x1p-20, 10 * 0x1p-20, -10 * 0x1p-20};

  compute->layer_norm_backward(dx, dgain, dbias, dy, x, mean, rstd, same(4, 2));
  EXPECT_EQ(unwrapped(dx), expected);
  EXPECT_EQ(unwrapped(dgain), (Values{3, -3, -5, 5}));
  EXPECT_EQ(unwrapped(dbias), (Values{3, -3, 5, -5}));
  compute->rms_norm_backward(dx, dgain, dy, x, rstd, same(4, 2));
  EXPECT_EQ(unwrapped(dx), expected);
  EXPECT_EQ(unwrapped(dgain), (Values{3, -3, -5, 5}));
}

TEST_P(NormKernels, GradientsOfNoRowsAreZero) {
  const Tensor none = tensor({0, 3}, {});
  const Tensor dgain = unwritten({3});
  const Tensor dbias = unwritten({3});
  compute->layer_norm(none, stats(0), stats(0), none, same(3, 1), same(3, 1), eps);
  compute->layer_norm_backward(none, dgain, dbias, none, none, stats(0), stats(0), same(3, 1));
  EXPECT_EQ(unwrapped(dgain), (Values{0, 0, 0}));
  EXPECT_EQ(unwrapped(dbias), (Values{0, 0, 0}));
  compute->rms_norm_backward(none, dbias, none, none, stats(0), same(3, 1));
  EXPECT_EQ(unwrapped(dbias), (Values{0, 0, 0}));
}

TEST_P(NormKernels, MisfitsAreContractErrors) {
  const Tensor x = tensor({2, 3}, Values(6, 1));
  EXPECT_THROW(compute->rms_norm(x, stats(3), x, same(3, 1), eps), ContractError);
  EXPECT_THROW(compute->rms_norm(x, stats(2), x, same(2, 1), eps), ContractError);
  EXPECT_THROW(compute->rms_norm(x, host_tensor(DType::i64, {2}), x, same(3, 1), eps), ContractError);
  EXPECT_THROW(compute->rms_norm(tensor({3, 2}, Values(6)), stats(2), x, same(3, 1), eps), ContractError);
}

}  // namespace
}  // namespace tpc
