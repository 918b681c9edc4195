// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/core/definitions.hpp"
#include "reference/faults/fault_set.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// Throws Refusal, naming both numbers and what to do, where the operation cannot be split over `ranks`.
// Called when a layer is to be built, before any collective; `sequence` counts under sequence parallelism
// only.
void require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                        std::int64_t sequence, int ranks, const FaultSet& faults = {});

}  // namespace tpc
