// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/comm/communicator.hpp"

namespace tpc {

// Collective over `ranks`, each with a CUDA device of its own. `ranks` carries what NCCL does not: the
// identifier of the new group, and the news of a rank that gave up. Throws EnvironmentError where the build
// has no NCCL or the machine no such device.
CommunicatorPtr make_nccl_communicator(const CommunicatorPtr& ranks, int device);

}  // namespace tpc
