// SPDX-License-Identifier: Apache-2.0
// From a configuration that fails to the smallest that still does.
#pragma once

#include <functional>
#include <vector>

#include "harness/explain/configuration/configuration.hpp"

namespace tpc {

// Valid configurations one step smaller, the largest steps first: another operation that the one is made of,
// fewer ranks, smaller sizes, simpler definitions.
std::vector<Configuration> smaller_configurations(const Configuration& configuration);

struct Shrunk {
  Configuration smallest;
  int attempts = 0;
  bool finished = false;  // nothing smaller fails; else the attempts ran out
};
// Greedy: takes the first smaller one that fails and goes on from there. No configuration is tried twice.
Shrunk shrink(const Configuration& failing, const std::function<bool(const Configuration&)>& fails,
              int most_attempts);

}  // namespace tpc
