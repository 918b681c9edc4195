// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compare/tiers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/random/mask_statistics.hpp"

namespace tpc {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double in_units_of(double error, double allowed) {
  if (error == 0) return 0;
  return std::isfinite(error) && allowed > 0 ? error / allowed : infinity;
}

bool is_end_to_end(const Problem& problem) {
  return problem.asks(Operation::transformer_layer) || problem.asks(Operation::model) ||
         problem.asks(Operation::train);
}

// A single element may hide in the norm of a large tensor, so it has a bound of its own. Its terms are not
// known one by one, only the largest sum of magnitudes is; ten times the tensor's bound keeps that crude
// measure quiet.
constexpr double element_slack = 10;

double f64_ratio(const Case& c, const Expected& expected, const TensorError& error) {
  const double tolerance = f64_tolerance(c.request.problem);
  return std::max(in_units_of(relative_error(expected, error), tolerance),
                  in_units_of(error.largest, element_slack * tolerance * expected.scale_max));
}

}  // namespace

double relative_error(const Expected& expected, const TensorError& error) {
  return in_units_of(std::sqrt(error.squares), std::max(expected.norm, expected.scale_norm));
}

// Summing n terms in another order moves the result by at most n·u times the sum of their magnitudes, which
// is the scale: 4096 · 2^-53 = 4.5e-13, and some 1e-15 in practice. End to end the errors of some dozens of
// contractions follow upon each other, through norms and a softmax that amplify them. A structural bug
// changes results by a factor of 1/T, T or a whole term: 1e-2 or more at T <= 64, so nothing here needs
// tuning.
double f64_tolerance(const Problem& problem) { return is_end_to_end(problem) ? 1e-10 : 1e-12; }

// e_1 is what the implementation's own arithmetic costs on one rank, e_p what rounding the inputs once costs
// any arithmetic; the larger of both measures how ill-conditioned the tensor is. On T ranks each rounds its
// partial sum once, together about as much as one rank's rounding, and a ring in the storage dtype rounds T-1
// growing sums, which adds T/2 in variance: a factor of sqrt(1 + T/2). The 3 is for the spread of such
// estimates, in tensors of fewer than 64 elements they scatter more and can vanish by luck, hence 4u instead
// of 1u.
double rounding_tolerance(DType dtype, int ranks, const Expected& expected) {
  const double single = std::min(expected.single, largest_single_error(dtype, expected.perturbed));
  const double luck = element_count(expected.shape) < 64 ? 4 : 1;
  return 3 * std::sqrt(1 + ranks / 2.0) * std::max(single, expected.perturbed) + luck * unit_roundoff(dtype);
}

// Without a bound on e_1 an implementation that is wrong on one rank too would be allowed to be as wrong on
// many. Rounding every intermediate a few times costs some times u; in f32 the accumulator is only as fine as
// that, and a naive sum of 4096 terms was seen at 20u. An ill-conditioned tensor multiplies this as it does
// e_p.
double largest_single_error(DType dtype, double perturbed) {
  return (dtype == DType::bf16 ? 16 : 64) * std::max(perturbed, unit_roundoff(dtype));
}

double exact_limit(DType dtype) {
  return dtype == DType::i64 || dtype == DType::f64 ? 0x1p53
         : dtype == DType::u8                       ? 255
                                                    : 1 / unit_roundoff(dtype);
}

double error_ratio(const Case& c, const Expected& expected, const TensorError& error) {
  const DType dtype = c.request.problem.dtype;
  switch (c.tier) {
    case Tier::exact:
      return error.equal ? 0 : infinity;
    case Tier::f64:
      return f64_ratio(c, expected, error);
    case Tier::f32:
    case Tier::bf16:
      return in_units_of(relative_error(expected, error),
                         rounding_tolerance(dtype, c.request.mesh.ranks(), expected));
    case Tier::statistics:
      return 0;  // not a matter of single values
  }
  return infinity;
}

std::string demand(const Case& c) {
  const double tolerance = f64_tolerance(c.request.problem);
  switch (c.tier) {
    case Tier::exact:
      return "equal values, whatever the order of summation; -0 equals +0, NaN equals nothing";
    case Tier::f64:
      return fmt::format(
          "|got - expected| <= {0:g} max(|expected|, |scale|) as norms of each tensor, and each element "
          "within {1:g} "
          "max(scale); the scale of an element is the sum of magnitudes of the terms of its last contraction",
          tolerance, element_slack * tolerance);
    case Tier::f32:
    case Tier::bf16:
      return fmt::format(
          "relative error of each tensor <= 3 sqrt(1 + {0}/2) max(e_1, e_p) + 1u (4u below 64 elements), u = "
          "{1:g}; e_1: "
          "error of the implementation on one rank; e_p: change of the baseline when its inputs move by one "
          "rounding",
          c.request.mesh.ranks(), unit_roundoff(c.request.problem.dtype));
    case Tier::statistics:
      return fmt::format("rates and agreements within {} sigma, correlation at any lag within 8", alarm_z);
  }
  return {};
}

}  // namespace tpc
