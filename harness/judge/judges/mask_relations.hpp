// SPDX-License-Identifier: Apache-2.0
// Which masks of dropout must be equal and which independent, over every pair of ranks; and the tests of it.
// Pure: the masks of all ranks are at hand.
#pragma once

#include <string>
#include <vector>

#include "harness/values/boxes.hpp"
#include "harness/values/request.hpp"

namespace tpc {

// A site's mask as one rank holds it: which elements of the whole tensor, and of each, row-major box by box,
// whether it is kept. No boxes: the rank holds nothing.
struct HeldMask {
  std::vector<Box> boxes;
  std::vector<std::uint8_t> kept;
};

enum class Relation { equal, independent, free };

// Of the masks of two ranks. Over an axis that cuts the tensor (they hold different elements) they must be
// independent, over one that replicates it they must be equal; pipeline stages and data-parallel ranks are as
// the profile has it.
Relation relation(const Randomness& random, const MeshSpec& mesh, int a, int b, bool same_elements);

// Coordinates on the mesh, the last axis fastest.
std::vector<int> mesh_coordinates(const MeshSpec& mesh, int rank);

}  // namespace tpc
