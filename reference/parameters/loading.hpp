// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reference/compute/compute.hpp"
#include "reference/parameters/parameter_spec.hpp"

namespace tpc {

// Local tensors by name.
using Parameters = std::map<std::string, Tensor>;

// Fills a block of a canonical tensor into `values` (row-major, the block's extent), in the parameter's
// dtype.
using WeightSource = std::function<Tensor(const std::string& canonical, const Block& block)>;

// Cuts this rank's local tensors out of the canonical weights; padding is zero.
Parameters load_parameters(Compute& compute, const std::vector<ParameterSpec>& specs, DType dtype,
                           const WeightSource& source);

}  // namespace tpc
