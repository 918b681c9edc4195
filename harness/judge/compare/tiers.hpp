// SPDX-License-Identifier: Apache-2.0
// What each tier demands of a tensor. The derivations stand beside the numbers, in tiers.cpp.
#pragma once

#include <string>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

// How far a tensor is from the baseline. An element held by n ranks counts 1/n times from each of them. Not
// finite where the baseline is: infinitely far.
struct TensorError {
  double squares = 0;  // sum of (got - expected)²
  double largest = 0;  // |got - expected|
  bool equal = true;   // by value: -0 equals +0, NaN equals nothing
};

// The error in units of what the tier allows: above 1 fails. In the exact tier 0 or infinity.
double error_ratio(const Case& c, const Expected& expected, const TensorError& error);

// Relative to max(‖expected‖, ‖scale‖); infinite where that is zero and the error is not.
double relative_error(const Expected& expected, const TensorError& error);

// The demand in words, for --explain.
std::string demand(const Case& c);

// f64: allowed relative error of a whole tensor.
double f64_tolerance(const Problem& problem);
// f32 and bf16: allowed relative error of a tensor over `ranks` ranks.
double rounding_tolerance(DType dtype, int ranks, const Expected& expected);
// A one-rank error above this is no rounding, and does not widen the tolerance.
double largest_single_error(DType dtype, double perturbed);

// What sums of magnitudes may reach in the exact tier, in units of their common power of two.
double exact_limit(DType dtype);

}  // namespace tpc
