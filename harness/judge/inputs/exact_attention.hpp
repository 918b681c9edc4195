// SPDX-License-Identifier: Apache-2.0
// Hard attention: inputs on which softmax attention is exact, forward and backward, in every dtype.
//
// Some columns of x do not hold data but write down, as a small vector of integers, the number of a pair of
// positions (2m, 2m+1): of the row's own pair, and in `target_sets` further groups of the pair that this row
// shall look at. All these code vectors have one length. The key weights copy the own one into the head, one
// entry per head dim; the query weights copy a target instead, times 1024 over the attention scale. A score
// is then 1024 times the product of two code vectors, largest where they are equal: the two keys of the
// target pair tie, every other score is at least 1024 lower and its exponential is zero. So a probability is
// 1/2 twice, or 1 where the causal mask leaves only one key of the pair, and 0 else.
//
// What tells the two keys of a pair apart is in the keys too, on a dim where queries are zero. It does not
// touch the scores, but without it the gradient of the queries would cancel. Heads differ: which head dim
// holds which bit rotates with the kv head, signs flip with it, and query heads alternate between the groups
// of targets. The scale must be a power of two, so D is 4, 16, 64, ... attention_q on a vector is a query
// bias: non-zero only on dims where all keys are zero. attention_k on a vector is a key bias: non-zero only
// where all queries are zero. attention_v is data that does not read the code columns: the gradient of x
// there, in steps of 1024 from the scores, would not fit into 8 bits with it.
#pragma once

#include <cstdint>

#include "harness/values/request.hpp"

namespace tpc {

constexpr int target_sets = 2;

class AttentionCode {
 public:
  explicit AttentionCode(const Problem& problem);

  // Entry i of the code vector of a pair. Bits as ±1 where the head is wide enough; else each three entries
  // are one of the 24 vectors made of ±1, ±2, ±2: their products with each other are at most 8, with
  // themselves 9.
  double entry(std::int64_t pair, int i) const;
  int width() const { return width_; }                                        // entries of a code vector
  std::int64_t columns() const { return width_ + 1 + target_sets * width_; }  // of x, the first ones
  int dims() const { return width_ + 1; }                                     // of a head that are used
  std::int64_t sequence() const { return sequence_; }
  bool causal() const { return causal_; }

 private:
  std::int64_t sequence_;
  bool causal_;
  bool bits_ = true;
  int width_ = 0;
};

// The pair (2m, 2m+1) that a query position of a batch entry looks at: m. At least one key of it is visible.
std::int64_t target_pair(const Problem& problem, const AttentionCode& code, std::int64_t position,
                         std::int64_t batch_entry, int set);
// Which of the sets a query head reads.
inline int target_set_of(std::int64_t head) { return static_cast<int>(head % target_sets); }

}  // namespace tpc
