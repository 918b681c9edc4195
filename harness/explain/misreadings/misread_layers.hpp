// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/explain/misreadings/misreadings.hpp"

namespace tpc {

// Single layers of another formula than any that can be asked for: norms with eps outside the root, a causal
// mask that is off by one token, biases that nobody adds.
std::vector<Misreading> misread_layers(const Problem& problem);

}  // namespace tpc
