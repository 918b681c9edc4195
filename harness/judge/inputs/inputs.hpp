// SPDX-License-Identifier: Apache-2.0
// Inputs are drawn, never sent: any rank draws any block, the baseline draws the whole. An element is a
// function of (generator, seed, input name, global index).
#pragma once

#include <string>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/core/tensor.hpp"
#include "reference/mesh/placement.hpp"

namespace tpc {

// The elements of a block (offset and extent in the global tensor), row-major, not yet rounded to the dtype.
std::vector<double> draw(const Problem& problem, const InputSpec& input, const Shape& offset,
                         const Shape& extent);

// The same on the host in the problem's dtype, rounded to nearest even; ids and targets as i64.
Tensor draw_tensor(const Problem& problem, const InputSpec& input, const Shape& offset, const Shape& extent);

// The whole input with the values that draw_tensor stores: what a baseline must see.
std::vector<double> draw_rounded(const Problem& problem, const InputSpec& input);

const InputSpec& input_named(const Problem& problem, const std::string& name);
bool has_input(const Problem& problem, const std::string& name);
bool is_integral(const Generator& generator);  // ids and targets
DType stored_dtype(const Problem& problem, const InputSpec& input);

}  // namespace tpc
