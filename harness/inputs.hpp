// SPDX-License-Identifier: Apache-2.0
// Inputs are drawn, never sent: any rank draws any block, the baseline draws the whole.
#pragma once

#include <vector>

#include "harness/request.hpp"
#include "reference/core/tensor.hpp"
#include "reference/mesh/placement.hpp"

namespace tpc {

// The elements of a block (offset and extent in the global tensor), row-major, not yet rounded to the dtype.
std::vector<double> draw(const Problem& problem, const InputSpec& input, const Shape& offset,
                         const Shape& extent);

// The same on the host in the problem's dtype, rounded to nearest even; ids and targets as i64.
Tensor draw_tensor(const Problem& problem, const InputSpec& input, const Shape& offset, const Shape& extent);

const InputSpec& input_named(const Problem& problem, const std::string& name);
bool is_integral(const Generator& generator);  // ids and targets

}  // namespace tpc
