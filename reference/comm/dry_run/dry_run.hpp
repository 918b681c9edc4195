// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/comm/communicator.hpp"

namespace tpc {

// Pretends to be one rank of many: every call checks its operands and does nothing, so traces and sizes of
// any number of ranks come from one process. Groups are made by subgroup; split, whose answer the other ranks
// know, is a ContractError above size 1.
CommunicatorPtr make_dry_run_world(int rank, int size);

}  // namespace tpc
