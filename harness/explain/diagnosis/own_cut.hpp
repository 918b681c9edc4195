// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/values/implementation.hpp"
#include "reference/comm/communicator.hpp"

namespace tpc {

// The request with the vocabulary padded as the answer pads it, where its shards of logits or tables tell:
// how far is the implementation's own choice, and what a fault does may depend on which classes a rank holds.
// Collective.
Request with_own_cut(const Request& request, const std::vector<LocalTensor>& answer, Communicator& ranks);

}  // namespace tpc
