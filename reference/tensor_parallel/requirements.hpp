// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/core/definitions.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// What is looked at. Implementations differ where they forget one, or ask for too much.
struct Demands {
  bool heads = true;
  bool kv_heads = true;
  bool sequence = true;
  bool no_more_kv_heads_than_ranks = false;
  bool fused_rows_alone = false;  // of gate and up together, instead of each
};

// Throws Refusal, naming both numbers and what to do, where the operation cannot be split over `ranks` of tp.
// Called when a layer is to be built, before any collective; `sequence` counts under sequence parallelism
// only.
void require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                        std::int64_t sequence, int ranks, const Demands& demands = {});

}  // namespace tpc
