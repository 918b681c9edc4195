// SPDX-License-Identifier: Apache-2.0
// How the reference implementation carries out what the collectives and mesh suites ask. Called by every rank
// of `ranks`, whose size is the mesh's; throws Refusal where the mesh cannot be.
#pragma once

#include "harness/values/implementation.hpp"
#include "reference/faulty/fault_set.hpp"

namespace tpc {

Response run_collective(const Request& request, const CommunicatorPtr& ranks, const FaultSet& faults = {});
Response run_mesh(const Request& request, const CommunicatorPtr& ranks);

}  // namespace tpc
