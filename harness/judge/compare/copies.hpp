// SPDX-License-Identifier: Apache-2.0
// Elements that several ranks hold must agree bit for bit. Hashes tell whether they do; only where they do
// not is it found out where.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/judge/compare/exchange.hpp"

namespace tpc {

struct UnequalCopies {
  std::size_t tensor = 0;
  Box box;
  int one = 0;    // ranks, one <= other
  int other = 0;  // the first that differs
};
// The parts' boxes are equal or disjoint.
std::optional<UnequalCopies> find_unequal_copies(const std::vector<Holdings>& all);

// Collective. "y[5, 0, 17]: holds 0.5, but rank 0 holds 0.25, and copies must agree bit for bit"
std::string describe(const UnequalCopies& copies, const std::vector<Source>& sources,
                     const Catalogue& catalogue, Communicator& ranks);

// "rank 3 (tp 3 of 4)"
std::string rank_label(const MeshSpec& mesh, int rank);

}  // namespace tpc
