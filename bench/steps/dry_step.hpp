// SPDX-License-Identifier: Apache-2.0
// What a step consists of, for any size and any number of ranks, from the layers' own code without memory and
// arithmetic.
#pragma once

#include "bench/steps/kernel_log.hpp"
#include "bench/steps/station.hpp"

namespace tpc::bench {

struct StepContent {
  KernelLog kernels;            // without times
  std::vector<TraceRow> calls;  // collectives
  std::size_t saved_bytes = 0;  // kept for backward
  double payload_bytes() const;
  double ring_wire_bytes() const;
  double flops() const;  // of products
};

// On rank 0 of so many: all ranks do the same amount. Throws Refusal where the shape cannot be split.
StepContent dry_step(const StackShape& shape, Pass pass, int ranks);

// What the collectives of a step must come to, by formula: four of the payload per layer and step without
// sequence parallelism, eight with it, two more where inputs are gathered again, and one of the pending
// gradients. Overlapped, the same payload in more calls.
struct ExpectedVolume {
  std::int64_t calls = 0;
  double payload_bytes = 0;
};
ExpectedVolume expected_volume(const StackShape& shape, Pass pass, int ranks);

}  // namespace tpc::bench
