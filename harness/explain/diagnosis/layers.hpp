// SPDX-License-Identifier: Apache-2.0
// A block or a model that fails is taken apart.
#pragma once

#include <vector>

#include "harness/values/case.hpp"

namespace tpc {

// The cases of the layers of a block, a model or a training step, at the same geometry, mesh and options, in
// the order in which forward meets them; each can be spelt on the command line. Empty for a single layer.
std::vector<Case> cases_of_layers(const Case& c);

}  // namespace tpc
