// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/suspects.hpp"

namespace tpc {

std::vector<Suspect> known_suspects(const Request&) { return {}; }

}  // namespace tpc
