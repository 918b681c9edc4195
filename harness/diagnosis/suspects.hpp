// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/diagnosis/dictionary.hpp"

namespace tpc {

// The reference with each of the planted faults that can occur in a request, and requests that are misread.
std::vector<Suspect> known_suspects(const Request& request);

}  // namespace tpc
