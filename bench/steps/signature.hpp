// SPDX-License-Identifier: Apache-2.0
// Tells whether sharded results are those of the baseline without moving them: each tensor is projected onto
// a few vectors of random signs, drawn by global index. For a difference d the projections of d have the mean
// square ‖d‖².
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "bench/steps/layer_stack.hpp"

namespace tpc::bench {

struct Signature {
  static constexpr std::size_t width = 4;
  std::array<double, width> projections{};
  double norm = 0;  // that errors are relative to
};
using Signatures = std::map<std::string, Signature>;

// Collective over the ranks that hold the pieces; the same on each. Elements held more than once count once.
Signatures signatures_of(Communicator& ranks, const std::vector<PlacedTensor>& tensors);

// Of the f64 baseline for one slot of inputs, by solving the layers one after the other. Slow: for small
// sizes.
Signatures baseline_signatures(const StackShape& shape, int slot);
// Of one operation's problem, with the names of baseline/baseline.hpp.
Signatures baseline_signatures(const Problem& problem);
double baseline_flops(const StackShape& shape);

// Empty where every tensor is within `tolerance` of the reference; else the worst, with its error.
std::string difference(const Signatures& got, const Signatures& reference, double tolerance);

// What rounding may do: 16 roundings, which in f32 meet in sums of the length of the longest contraction.
double signature_tolerance(const StackShape& shape);

// From rank `root` to all. Collective.
void share(Communicator& ranks, Signatures& signatures, int root);

}  // namespace tpc::bench
