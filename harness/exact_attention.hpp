// SPDX-License-Identifier: Apache-2.0
// Hard attention: inputs on which softmax attention is exact, forward and backward, in every dtype.
//
// Some columns of x do not hold data but write down positions as bits of ±1: the row's own position, and in
// `target_sets` further groups the number of a pair of positions (2m, 2m+1) that this row shall look at. The
// key weights copy the own position into the head, one bit per head dim; the query weights copy the target
// instead, without the last bit, times 1024 over the attention scale. A score is then 1024 times (bits that
// agree - bits that differ): the two keys of the target pair tie for the largest, every other score is at
// least 2048 lower and its exponential is zero. So a probability is 1/2 twice, or 1 where the causal mask
// leaves only one key of the pair, and 0 else.
//
// The last bit of the own position is in the keys, on a dim where queries are zero. It does not touch the
// scores, but the two tied keys differ by it, or else the gradient of the queries would cancel.
// Heads differ: which head dim holds which bit rotates with the kv head, signs flip with it, and query heads
// alternate between the groups of targets. The scale must be a power of two, so D is 4, 16, 64, ...
// attention_q on a vector is a query bias: non-zero only on dims where all keys are zero. attention_k on a
// vector is a key bias: non-zero only where all queries are zero. attention_v is data that does not read the
// code columns: the gradient of x there, in steps of 1024 from the scores, would not fit into 8 bits with it.
#pragma once

#include <cstdint>

#include "harness/request.hpp"

namespace tpc {

constexpr int target_sets = 2;

struct AttentionCode {
  std::int64_t sequence = 1;
  int bits = 0;  // of the number of a pair
  bool causal = true;

  explicit AttentionCode(const Problem& problem);
  std::int64_t columns() const { return bits + 1 + target_sets * bits; }  // of x, the first ones
  int dims() const { return bits + 1; }                                   // of a head that are used
};

// The pair (2m, 2m+1) that a query position of a batch entry looks at: m. At least one key of it is visible.
std::int64_t target_pair(const Problem& problem, const AttentionCode& code, std::int64_t position,
                         std::int64_t batch_entry, int set);
// Which of the sets a query head reads.
inline int target_set_of(std::int64_t head) { return static_cast<int>(head % target_sets); }

}  // namespace tpc
