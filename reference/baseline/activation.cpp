// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/activation.hpp"

#include <cmath>
#include <numbers>

namespace tpc::baseline {

namespace {

constexpr double cubic = 0.044715;

double inner_slope_at_zero() { return std::sqrt(2 / std::numbers::pi); }

double tanh_of_inner(double x) { return std::tanh(inner_slope_at_zero() * (x + cubic * x * x * x)); }

// Φ, the distribution function of the standard normal. erfc keeps its digits where 1 + erf cancels.
double normal_distribution(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

double gelu(GeluForm form, double x) {
  if (form == GeluForm::erf) return x * normal_distribution(x);
  return x * (1 + tanh_of_inner(x)) / 2;
}

double gelu_slope(GeluForm form, double x) {
  if (form == GeluForm::erf) return normal_distribution(x) + x * normal_density(x);
  const double t = tanh_of_inner(x);
  return (1 + t) / 2 + x * (1 - t * t) / 2 * inner_slope_at_zero() * (1 + 3 * cubic * x * x);
}

double silu(double x) { return x * sigmoid(x); }

double silu_slope(double x) {
  const double s = sigmoid(x);
  return s + x * s * (1 - s);
}

}  // namespace tpc::baseline
