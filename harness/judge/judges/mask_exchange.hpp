// SPDX-License-Identifier: Apache-2.0
// The masks that the ranks of a case drew, brought to every rank.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/baselines/solve.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/judges/mask_tests.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

// A tensor of which each element tells kept (not zero) from dropped, and the whole it is part of.
struct MaskTensor {
  std::string name;
  Shape shape;
};

struct GatheredMasks {
  std::string defect;                                    // why they are no masks: placement, values, holes
  std::map<std::string, std::vector<HeldMask>> by_name;  // each by rank
};

// Collective. `own_defect`: what this rank has found wrong already.
GatheredMasks gather_masks(const std::vector<LocalTensor>& got, const std::vector<MaskTensor>& wanted,
                           const MeshSpec& mesh, Communicator& ranks, const std::string& own_defect = {});

// The whole mask, of which all parts are there.
std::vector<double> assembled(const Shape& shape, const std::vector<HeldMask>& masks);

// Collective: what all workers found.
RelationFindings gathered(const RelationFindings& mine, Communicator& ranks);

}  // namespace tpc
