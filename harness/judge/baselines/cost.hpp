// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

// What the answers of a problem take, estimated from shapes alone.
struct BaselineCost {
  std::uint64_t answers = 0;  // bytes that stay
  std::uint64_t work = 0;     // bytes while it is solved
  double operations = 0;      // multiplications, roughly
};
BaselineCost baseline_cost(const Problem& problem);

// Owner of each problem among `ranks` workers: the most expensive first, each to whoever has least to do.
std::vector<int> deal(std::span<const BaselineCost> costs, int ranks);

// Bytes while all of them are solved by as many workers, one problem at a time each, at most.
std::uint64_t bytes_while_solving(std::span<const BaselineCost> costs, int ranks);

}  // namespace tpc
