// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// The angle per position of each pair of a head's elements, slowest last: D/2 of them.
Values rotary_frequencies(const ModelConfig& config);

enum class Turn { forward, backward };  // backward is the transpose: the opposite angle

// Turns the pairs of every head of x [S, B, heads·D] by the angles of their positions 0 ... S-1.
void rotate(const Scope& scope, Values& x, Turn turn);

}  // namespace tpc::baseline
