// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/elementwise.hpp"

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

template <class T>
class Activations : public testing::Test {};
using Floats = testing::Types<double, float>;
TYPED_TEST_SUITE(Activations, Floats);

template <class T>
T silu(T x) {
  return elementwise::silu(x, elementwise::logistic(x));
}

template <class T>
T silu_slope(T x) {
  return elementwise::silu_slope(x, elementwise::logistic(x));
}

// From here on each activation is x or 0 to the bit, and its slope 1 or 0.
template <class T>
constexpr bool wide = std::is_same_v<T, double>;

template <class T, class Value, class Slope>
void expect_saturated(T from, Value value, Slope slope) {
  for (T x = from; x < T(1e6); x = x * T(1.0625) + 1) {
    ASSERT_EQ(value(x), x);
    ASSERT_EQ(value(-x), 0) << x;
    ASSERT_EQ(slope(x), 1) << x;
    ASSERT_EQ(slope(-x), 0) << x;
  }
  ASSERT_EQ(value(T(0)), 0);
  ASSERT_EQ(slope(T(0)), T(0.5));
}

TYPED_TEST(Activations, SaturateExactly) {
  using T = TypeParam;
  expect_saturated<T>(wide<T> ? 39 : 15, elementwise::gelu_erf<T>, elementwise::gelu_erf_slope<T>);
  expect_saturated<T>(wide<T> ? 22 : 11, elementwise::gelu_tanh<T>, elementwise::gelu_tanh_slope<T>);
  expect_saturated<T>(wide<T> ? 710 : 89, silu<T>, silu_slope<T>);
}

TYPED_TEST(Activations, MeetTheirFormulas) {
  using T = TypeParam;
  const double tolerance = 16 * unit_roundoff(dtype_of<T>());
  for (double x = -6; x <= 6; x += 0.0625) {
    const T at = static_cast<T>(x);
    const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    EXPECT_NEAR(elementwise::gelu_erf(at), 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))), tolerance) << x;
    EXPECT_NEAR(elementwise::gelu_tanh(at), 0.5 * x * (1 + std::tanh(u)), tolerance) << x;
    EXPECT_NEAR(silu(at), x / (1 + std::exp(-x)), tolerance) << x;
  }
}

TEST(Activations, SlopesAreDerivatives) {
  const auto slope_of = [](double (*f)(double), double x) {
    constexpr double step = 0x1p-17;
    return (f(x + step) - f(x - step)) / (2 * step);
  };
  for (double x = -6; x <= 6; x += 0.0625) {
    EXPECT_NEAR(elementwise::gelu_erf_slope(x), slope_of(elementwise::gelu_erf<double>, x), 1e-9) << x;
    EXPECT_NEAR(elementwise::gelu_tanh_slope(x), slope_of(elementwise::gelu_tanh<double>, x), 1e-9) << x;
    EXPECT_NEAR(silu_slope(x), slope_of(silu<double>, x), 1e-9) << x;
  }
}

class ElementwiseKernels : public testing::TestWithParam<DType> {
 protected:
  Tensor tensor(const Values& values) const {
    return wrapped(GetParam(), {static_cast<std::int64_t>(values.size())}, values);
  }
  std::unique_ptr<Compute> compute = make_host_compute();
};
INSTANTIATE_TEST_SUITE_P(, ElementwiseKernels, testing::ValuesIn(float_dtypes),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST_P(ElementwiseKernels, AddAndScaleInPlace) {
  const Tensor x = tensor({1, -2, 3});

  compute->add(x, x, tensor({0.5, 0.5, 0.5}));
  EXPECT_EQ(unwrapped(x), (Values{1.5, -1.5, 3.5}));
  compute->scale(x, x, -2);
  EXPECT_EQ(unwrapped(x), (Values{-3, 3, -7}));
}

TEST_P(ElementwiseKernels, GeluOfSaturatedInputs) {
  const Tensor x = tensor({-1024, -64, 0, 64, 1024});
  const Tensor dy = tensor({3, 3, 4, 3, -5});
  for (const GeluForm form : {GeluForm::erf, GeluForm::tanh}) {
    const Tensor y = tensor(Values(5, 7));
    compute->gelu(y, x, form);
    EXPECT_EQ(unwrapped(y), (Values{0, 0, 0, 64, 1024}));
    compute->gelu_backward(y, dy, x, form);
    EXPECT_EQ(unwrapped(y), (Values{0, 0, 2, 3, -5}));
  }
}

TEST_P(ElementwiseKernels, GeluFormsDiffer) {
  const Tensor x = wrapped(DType::f64, {1}, {1});
  const Tensor y = wrapped(DType::f64, {1}, {0});
  compute->gelu(y, x, GeluForm::erf);
  EXPECT_NEAR(y.data<double>()[0], 0.8413447460685429, 1e-15);  // the normal distribution's Phi(1)
  compute->gelu(y, x, GeluForm::tanh);
  EXPECT_NEAR(y.data<double>()[0], 0.8411919906082768, 1e-15);
}

TEST_P(ElementwiseKernels, SwigluOfSaturatedGates) {
  const Tensor gate = tensor({-1024, 1024, 0, 2048});
  const Tensor up = tensor({3, -2, 5, 1});
  const Tensor dy = tensor({7, 4, 2, -1});
  const Tensor y = tensor(Values(4, 9));

  compute->swiglu(y, gate, up);
  EXPECT_EQ(unwrapped(y), (Values{0, -2048, 0, 2048}));
  compute->swiglu_backward(gate, up, dy, gate, up);  // over its own inputs
  EXPECT_EQ(unwrapped(gate), (Values{0, -8, 5, -1}));
  EXPECT_EQ(unwrapped(up), (Values{0, 4096, 0, -2048}));
}

TEST_P(ElementwiseKernels, DropoutMasksAndScales) {
  const Tensor x = tensor({1, std::numeric_limits<double>::quiet_NaN(), -3, 5});
  const Tensor mask = wrapped(DType::u8, {4}, {1, 0, 1, 0});

  compute->dropout(x, x, mask, 2);

  EXPECT_EQ(unwrapped(x), (Values{2, 0, -6, 0}));
  EXPECT_THROW(compute->dropout(x, x, wrapped(DType::u8, {3}, {1, 0, 1}), 2), ContractError);
  EXPECT_THROW(compute->dropout(x, x, x, 2), ContractError);
}

TEST_P(ElementwiseKernels, RoundTheF64ResultOnce) {
  const DType dtype = GetParam();
  const Tensor x = test::random_tensor(dtype, {5, 67}, "x");
  const Tensor y = test::random_tensor(dtype, {5, 67}, "y");
  const Tensor x64 = test::in_f64(x);
  const Tensor y64 = test::in_f64(y);

  compute->gelu_backward(y, y, x, GeluForm::erf);
  compute->gelu_backward(y64, y64, x64, GeluForm::erf);
  EXPECT_LE(test::relative_error(unwrapped(y), unwrapped(y64)), 4 * unit_roundoff(dtype));
  compute->swiglu(x, x, y);
  compute->swiglu(x64, x64, y64);
  EXPECT_LE(test::relative_error(unwrapped(x), unwrapped(x64)), 8 * unit_roundoff(dtype));
}

TEST_P(ElementwiseKernels, EmptyTensorsAndSingleElements) {
  const Tensor none = wrapped(GetParam(), {0, 4}, {});
  compute->add(none, none, none);
  compute->swiglu_backward(none, none, none, none, none);
  const Tensor scalar = wrapped(GetParam(), {}, {64});
  compute->gelu(scalar, scalar, GeluForm::tanh);
  EXPECT_EQ(unwrapped(scalar), Values{64});
}

}  // namespace
}  // namespace tpc
