// SPDX-License-Identifier: Apache-2.0
// Texts of any length between ranks.
#pragma once

#include <string>
#include <vector>

#include "harness/values/texts.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc {

// Collective: what every rank says, by rank.
std::vector<std::string> gather_bytes(Communicator& ranks, const std::string& mine);
// Collective: rank 0's lines, on every rank.
std::vector<std::string> broadcast_lines(Communicator& ranks, const std::vector<std::string>& lines);

}  // namespace tpc
