// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: tensors from and to plain vectors of f64.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "reference/compute/compute.hpp"
#include "reference/core/philox.hpp"

namespace tpc::test {

using Values = std::vector<double>;

inline constexpr std::array<DType, 3> float_dtypes = {DType::f64, DType::f32, DType::bf16};

inline Tensor wrapped(DType dtype, Shape shape, const Values& values) {
  Tensor x = host_tensor(dtype, std::move(shape));
  TPC_EXPECT(x.count() == static_cast<std::int64_t>(values.size()), "{} values", values.size());
  visit_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, bf16>)
        x.data<T>()[i] = bf16(static_cast<float>(values[i]));
      else
        x.data<T>()[i] = static_cast<T>(values[i]);
    }
  });
  return x;
}

inline Values unwrapped(const Tensor& x) {
  Values values;
  visit_any(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < x.count(); ++i) {
      if constexpr (std::is_same_v<T, bf16>)
        values.push_back(static_cast<float>(x.data<T>()[i]));
      else
        values.push_back(static_cast<double>(x.data<T>()[i]));
    }
  });
  return values;
}

// Gaussians about 1/4, rounded to the dtype.
inline Tensor random_tensor(DType dtype, const Shape& shape, std::string_view name) {
  Values values;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    values.push_back(gaussian(philox(hash_name(name), static_cast<std::uint64_t>(i))) + 0.25);
  return wrapped(dtype, shape, values);
}

inline Tensor in_f64(const Tensor& x) { return wrapped(DType::f64, x.shape(), unwrapped(x)); }

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

inline double norm(const Values& a) { return std::sqrt(dot(a, a)); }

// The Euclidean norm of the difference over that of `expected`.
inline double relative_error(const Values& got, const Values& expected) {
  TPC_EXPECT(got.size() == expected.size(), "{} values against {}", got.size(), expected.size());
  Values difference = got;
  for (std::size_t i = 0; i < got.size(); ++i) difference[i] -= expected[i];
  const double size = norm(expected);
  return norm(difference) / (size > 0 ? size : 1);
}

// Central differences of f at x.
inline Values numerical_gradient(const std::function<double(const Values&)>& f, Values x) {
  constexpr double step = 0x1p-17;
  Values gradient;
  for (double& entry : x) {
    const double at = entry;
    entry = at + step;
    const double above = f(x);
    entry = at - step;
    const double below = f(x);
    entry = at;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

}  // namespace tpc::test
