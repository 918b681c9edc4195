// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reference/comm/communicator.hpp"

namespace tpc::bench {

// Faults that the benchmark must notice, to be planted in what it measures.
struct Planted {
  std::optional<CollectiveKind> wrong;  // returns its own operand
  std::optional<CollectiveKind> slow;   // takes `drag` times longer
  int slow_rank = -1;                   // its kernels take `drag` times longer
  double drag = 0;
};

// "reference", "reference+wrong:all_reduce", "reference+slow:all_reduce:0.2", "reference+slow-rank:1:0.2".
// Throws UsageError.
Planted planted_in(const std::string& implementation);

}  // namespace tpc::bench
