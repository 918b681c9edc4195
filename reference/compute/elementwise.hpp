// SPDX-License-Identifier: Apache-2.0
// The scalar functions that host loops and device kernels are made of, in one text. T is float or double.
// Where an activation saturates it is exact: its value is x or 0 and its slope 1 or 0 to the bit, so that
// integers stay integers.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define TPC_HOST_DEVICE __host__ __device__
#else
#define TPC_HOST_DEVICE
#endif

namespace tpc::elementwise {

template <class T>
struct Logistic {
  T value;       // 1/(1 + exp(-x))
  T complement;  // 1 - value, without cancellation
};

// The larger of both is taken from the smaller, whose exponential may overflow to a quotient of 0; nowhere
// does an infinity meet a 0. Saturates from |x| >= 710 in f64, 89 in f32.
template <class T>
TPC_HOST_DEVICE inline Logistic<T> logistic(T x) {
  const T small = 1 / (1 + std::exp(std::abs(x)));
  const T large = 1 - small;
  return x < 0 ? Logistic<T>{small, large} : Logistic<T>{large, small};
}

template <class T>
TPC_HOST_DEVICE inline T silu(T x, const Logistic<T>& s) {
  return x * s.value;
}

template <class T>
TPC_HOST_DEVICE inline T silu_slope(T x, const Logistic<T>& s) {
  return s.value * (1 + x * s.complement);
}

// x·Phi(x) with the normal distribution's Phi(x) = erfc(-x/sqrt 2)/2. Saturates from |x| >= 39 in f64, 15 in
// f32.
template <class T>
TPC_HOST_DEVICE inline T gelu_erf(T x) {
  constexpr T inverse_root_two = static_cast<T>(0.70710678118654752440);
  return T(0.5) * x * std::erfc(-x * inverse_root_two);
}

template <class T>
TPC_HOST_DEVICE inline T gelu_erf_slope(T x) {
  constexpr T inverse_root_two = static_cast<T>(0.70710678118654752440);
  constexpr T density_at_zero = static_cast<T>(0.39894228040143267794);  // 1/sqrt(2 pi)
  const T density = density_at_zero * std::exp(T(-0.5) * x * x);
  return T(0.5) * std::erfc(-x * inverse_root_two) + x * density;
}

// GPT-2's x·(1 + tanh u)/2 with u = sqrt(2/pi)·(x + 0.044715 x^3), written as x·logistic(2u). Saturates from
// |x| >= 22 in f64, 11 in f32.
template <class T>
struct TanhGelu {
  static constexpr T root_two_over_pi = static_cast<T>(0.79788456080286535588);
  static constexpr T cubic = static_cast<T>(0.044715);

  TPC_HOST_DEVICE static T twice_u(T x) { return 2 * root_two_over_pi * (x + cubic * x * x * x); }
  TPC_HOST_DEVICE static T twice_u_slope(T x) { return 2 * root_two_over_pi * (1 + 3 * cubic * x * x); }
};

template <class T>
TPC_HOST_DEVICE inline T gelu_tanh(T x) {
  return x * logistic(TanhGelu<T>::twice_u(x)).value;
}

template <class T>
TPC_HOST_DEVICE inline T gelu_tanh_slope(T x) {
  const Logistic<T> s = logistic(TanhGelu<T>::twice_u(x));
  return s.value + x * s.value * s.complement * TanhGelu<T>::twice_u_slope(x);
}

}  // namespace tpc::elementwise
