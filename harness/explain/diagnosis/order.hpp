// SPDX-License-Identifier: Apache-2.0
// The order in which an operation makes its tensors: the first wrong one is nearest to the cause.
#pragma once

#include <string>
#include <vector>

namespace tpc {

// Masks, the outputs of forward, the gradients of inputs, those of parameters; through a model's blocks
// forward upwards and backward downwards; step by step in training.
bool made_before(const std::string& one, const std::string& other);
std::vector<std::string> in_order_of_execution(std::vector<std::string> tensors);

}  // namespace tpc
