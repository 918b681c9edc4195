// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/parameters/gradients.hpp"
#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// The p-norm (p >= 1, or infinity) of all gradients together, the same on every rank of tp:
//   (sum of |g|^p)^(1/p), or the largest |g|.
// Accumulated in f64, in the order of the specifications. Gradients must be finished (gradient_finalisation).
// Padding never counts. One all_reduce. A NaN anywhere is a NaN everywhere.
double gradient_norm(Context& ctx, const Gradients& gradients, double p = 2);

}  // namespace tpc
