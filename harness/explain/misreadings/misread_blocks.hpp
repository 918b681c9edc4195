// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/explain/misreadings/misreadings.hpp"

namespace tpc {

// What goes around the attention or the MLP of a block, and where its norm stands.
enum class Wiring { right, around_norm_output, nothing_around, norm_behind };

// A block from single layers that the baseline solves; without dropout.
Answers solve_wired(const ModelConfig& config, const baseline::Inputs& inputs, Wiring attention, Wiring mlp);

// Blocks whose attention and MLP are joined to what goes around them in another way.
std::vector<Misreading> misread_blocks(const Problem& problem);

}  // namespace tpc
