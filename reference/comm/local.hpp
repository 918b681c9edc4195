// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/comm/communicator.hpp"

namespace tpc {

// Runs the body once per rank, each in a thread of its own. A rank that throws aborts its family, so that the
// others wake; the first exception that is not somebody else's doing (Abandoned) is thrown on.
void on_local_ranks(int size, const std::function<void(const CommunicatorPtr&)>& body,
                    Completion completion = Completion::prompt);

}  // namespace tpc
