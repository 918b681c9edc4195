// SPDX-License-Identifier: Apache-2.0
// From a line of the collectives suite to a case.
#pragma once

#include <string>
#include <vector>

#include "harness/values/case.hpp"

namespace tpc {

enum class CallData {
  whole,         // whole numbers that add up exactly in any order
  provenance,    // each element tells whose it is, and which
  contribution,  // each result tells who took part
  counted,       // each result tells how often everybody took part
  gaussian,      // sums that depend on their order in f32 and bf16, but not in f64
  thirds         // sums that depend on their order in f64 too
};

struct CallCase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int tp = 1;
  DType dtype = DType::f64;
  std::int64_t count = 1;
  ReduceOp op = ReduceOp::sum;
  CallData data = CallData::whole;
  bool in_place = false;
  int root = 0;
  std::vector<int> members = {};
  int repeats = 1;
};

// Whole numbers where the call adds or compares them, provenance where it only moves them.
CallData natural_data(CollectiveKind kind);

Case collective_case(const CallCase& call, std::uint64_t seed);

}  // namespace tpc
