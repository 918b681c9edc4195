// SPDX-License-Identifier: Apache-2.0
// An implementation in processes of its own, one per rank, that speak the protocol of adapters/README.md.
#pragma once

#include <memory>
#include <string>

#include "harness/run/process/rank_place.hpp"
#include "harness/values/implementation.hpp"

namespace tpc {

// Starts nothing yet. Every rank of place makes one and calls make_ready before anything is asked.
std::unique_ptr<Implementation> make_process_implementation(const std::string& command,
                                                            const RankPlace& place);

}  // namespace tpc
