// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"

namespace tpc::bench {

// Collective: every rank's text, on every rank.
std::vector<std::string> all_texts(Communicator& ranks, const std::string& own);

}  // namespace tpc::bench
