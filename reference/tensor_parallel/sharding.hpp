// SPDX-License-Identifier: Apache-2.0
// How a computation is cut; what it computes is core/definitions.hpp.
#pragma once

#include <cstdint>

namespace tpc {

// Megatron-LM's sequence parallelism (Korthikanti et al., arXiv 2205.05198) in both of its forms: the
// gathered input of a column linear is kept for backward, or only its shard is and backward gathers it again.
enum class SequenceParallel { off, kept, regathered };

// What backward computes again instead of keeping it: the core of the attention (Korthikanti et al., section
// 5), or each block from its input on (Chen et al., arXiv 1604.06174).
enum class Recompute { none, selective, full };

struct Sharding {
  SequenceParallel sequence_parallel = SequenceParallel::off;
  bool fused = true;           // q,k,v and gate,up are one local weight; else one each
  bool gather_output = false;  // of a single column linear
  bool input_is_split = true;  // of a single row linear
  Recompute recompute = Recompute::none;
  std::int64_t padded_vocab = 0;  // rows of the embedding and head over all ranks; 0: the vocabulary itself

  bool operator==(const Sharding&) const = default;
};

}  // namespace tpc
