// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc {

// Vectors that every rank holds whole and that are no longer alike on all of them after the first step that a
// training reports. With sequence parallelism each rank's gradient of some is a part of their sum: where all
// of these part ways, nobody adds it up. Collective.
std::optional<std::string> parted_copies(const Request& request, const std::vector<LocalTensor>& answer,
                                         Communicator& ranks);

// The same, of parameters that parted and those that are alike.
std::string parted_text(const std::vector<std::string>& parted, const std::vector<std::string>& alike,
                        bool sequence_parallel);

}  // namespace tpc
