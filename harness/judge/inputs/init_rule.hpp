// SPDX-License-Identifier: Apache-2.0
// How parameters begin, from the definition (reference/DEFINITIONS.md) and not from the code that is judged.
#pragma once

#include <string>
#include <vector>

#include "harness/values/request.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

// Normal with this mean and std; the mean itself where std is 0.
struct InitSpec {
  std::string parameter;
  Shape shape;
  double mean = 0;
  double std = 0;
};

// Of Operation::init: every parameter of the model.
std::vector<InitSpec> init_specs(const Problem& problem);

// The values under the profile `invariant`, rounded to the problem's dtype (f64 or f32): element i is mean +
// std·g of Philox4x32-10 with key K(seed, "weights/PARAMETER"), see masks.hpp, and counter (i, 0).
std::vector<double> invariant_weights(const Problem& problem, const InitSpec& spec);

// The name that an answer of the second initialisation bears.
std::string repeated_name(const std::string& parameter);

}  // namespace tpc
