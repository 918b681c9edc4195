// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/exact_account.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/compare/tiers.hpp"
#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

// The largest power of two that divides a value that is not zero.
double unit_of(double value) {
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(static_cast<double>(significand & -significand), exponent - 53);
}

double unit_of(const std::vector<double>& values) {
  double unit = HUGE_VAL;
  for (const double value : values)
    if (value != 0) unit = std::min(unit, unit_of(value));
  return unit;
}

// Sums of statistics stay in f32 at least, whatever the dtype.
double limit_of(DType dtype, const std::string& contraction) {
  const bool wide = contraction.find("statistics.") != std::string::npos;
  return exact_limit(wide && dtype == DType::bf16 ? DType::f32 : dtype);
}

}  // namespace

std::string beyond_exact_range(DType dtype, const std::vector<baseline::Contraction>& contractions) {
  for (const baseline::Contraction& contraction : contractions) {
    const double limit = limit_of(dtype, contraction.name);
    if (!(contraction.quanta <= limit))
      return fmt::format(
          "the inputs are not exact: the sum of magnitudes of '{}' reaches {} units, {} counts to {}",
          contraction.name, contraction.quanta, name(dtype), limit);
  }
  return {};
}

std::vector<baseline::Contraction> collective_account(const Problem& problem) {
  const CollectiveProblem* asked = problem.collective();
  if (asked == nullptr) return {};
  const CollectiveProblem& call = *asked;
  if (!reduces(call.kind) || call.op == ReduceOp::max || call.op == ReduceOp::min) return {};
  const InputSpec& input = input_named(problem, "in");
  const std::vector<double> values = draw_rounded(problem, input);
  const auto ranks = static_cast<std::size_t>(input.shape[0]);
  const std::size_t each = values.size() / std::max<std::size_t>(1, ranks);
  const double unit = unit_of(values);
  double largest = 0;
  for (std::size_t j = 0; j < each; ++j) {
    double magnitude = call.op == ReduceOp::sum ? 0 : 1;
    for (std::size_t r = 0; r < ranks; ++r) {
      const double value = std::fabs(values[r * each + j]);
      if (call.op == ReduceOp::sum) magnitude += value / unit;
      if (call.op == ReduceOp::product && value != 0) magnitude *= value / unit_of(value);
    }
    largest = std::max(largest, magnitude);
  }
  return {{std::string(name(call.op)), largest}};
}

}  // namespace tpc
