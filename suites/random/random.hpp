// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "suites/variants.hpp"

namespace tpc {

// One valid configuration over all options: operation, degree, sequence parallelism, shapes, head groupings,
// biases, definitions, tying, padding. A function of (seed, index) alone.
struct RandomConfiguration {
  Variant variant;  // one degree, one mode, one tier
  std::string name;
};
RandomConfiguration random_configuration(std::uint64_t seed, std::uint64_t index, int most_ranks,
                                         const std::vector<Tier>& tiers);

}  // namespace tpc
