// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/core/definitions.hpp"

namespace tpc {

// The angle per position of each of the D/2 pairs: theta^(-2i/D), stretched where the model says so.
std::vector<double> rotary_frequencies(const ModelConfig& config);

}  // namespace tpc
