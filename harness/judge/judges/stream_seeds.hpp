// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

struct StreamSeed {
  std::string stream;
  std::uint64_t seed = 0;
};

// The named streams of a profile and their seeds on one rank, as the profile's table has them. Nothing for
// profiles without one.
std::optional<std::vector<StreamSeed>> stream_seeds(const Problem& problem, const MeshSpec& mesh, int rank);

}  // namespace tpc
