// SPDX-License-Identifier: Apache-2.0
// What travels when ranks compare: placements, hashes, error sums and the worst element of each part.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/compare/holdings.hpp"

namespace tpc {

// All that a rank tells the others of what it holds.
struct Holdings {
  std::string defect;
  std::vector<Part> parts;
};

// Collective: what every rank says, by rank.
std::vector<Holdings> exchange(Communicator& ranks, const Holdings& mine);

}  // namespace tpc
