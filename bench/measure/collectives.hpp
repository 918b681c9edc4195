// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/measure/sampling.hpp"

namespace tpc::bench {

inline constexpr CollectiveKind timed_collectives[] = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                                       CollectiveKind::reduce_scatter};

// The call on its own buffers, out of place. Inputs are small whole numbers that differ by rank, slot and
// element, so that the answer is the same in any order of summing and every element of it is checked; outputs
// hold NaN before. `count`: elements of the full tensor; a multiple of the ranks where the call cuts it.
// Borrows ranks.
struct TimedCollective {
  Subject subject;
  std::vector<Tensor> in;  // by slot
  std::vector<Tensor> out;
};
TimedCollective timed_collective(Communicator& ranks, CollectiveKind kind, DType dtype, std::int64_t count);

// Payload sizes that are timed: powers of four from 8 bytes, and the largest.
std::vector<std::int64_t> collective_sizes(std::int64_t largest_bytes);

// Hash of the bits of an all_reduce over gaussians, by size: another order of summing shows here, whatever
// its cause. The same on every rank, else a complaint.
struct Fingerprint {
  std::string what;  // "all_reduce f32 of 1024"
  std::uint64_t bits = 0;
  bool agreed = true;  // by all ranks, and in both of two calls
};
std::vector<Fingerprint> reduction_fingerprints(Communicator& ranks);

}  // namespace tpc::bench
