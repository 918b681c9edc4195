// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/explain/configuration/configuration.hpp"

namespace tpc {

// One valid configuration over all options: operation, degree, sequence parallelism, shapes, head groupings,
// biases, definitions, tying, padding, dropout, recomputation, training. A function of (seed, index) alone,
// given the ranks there are and the tiers to choose from.
Configuration random_configuration(std::uint64_t seed, std::uint64_t index, int most_ranks,
                                   const std::vector<Tier>& tiers);

}  // namespace tpc
