// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {

// Empty where every contraction stays within what the dtype counts exactly; else which one does not, and by
// how much.
std::string beyond_exact_range(DType dtype, const std::vector<baseline::Contraction>& contractions);

// The sums of a collective call.
std::vector<baseline::Contraction> collective_account(const Problem& problem);

// What every rank gets from a collective call, or its coordinates on a mesh.
baseline::Solution collective_solution(const Problem& problem);

}  // namespace tpc
