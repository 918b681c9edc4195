// SPDX-License-Identifier: Apache-2.0
// Ranks are threads of this process.
#pragma once

#include <functional>

#include "reference/comm/communicator.hpp"

namespace tpc {

// `late`: results arrive only at wait, and receive buffers are filled with NaN (integers: their largest
// value) until then.
enum class Completion { prompt, late };
// Each thread passes its own element to its code.
std::vector<CommunicatorPtr> make_local_world(int size, Completion completion = Completion::prompt);

// Size 1: every operation works and is the identity (a copy where in and out differ).
CommunicatorPtr make_single_communicator(const std::string& name = "self");

// Runs the body once per rank, each in a thread of its own. A rank that throws aborts its family, so that the
// others wake; the first exception that is not somebody else's doing (Abandoned) is thrown on.
void on_local_ranks(int size, const std::function<void(const CommunicatorPtr&)>& body,
                    Completion completion = Completion::prompt);

}  // namespace tpc
