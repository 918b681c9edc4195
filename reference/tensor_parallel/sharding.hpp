// SPDX-License-Identifier: Apache-2.0
// How a computation is cut; what it computes is core/definitions.hpp.
#pragma once

#include <cstdint>

#include "reference/core/words.hpp"

namespace tpc {

// Megatron-LM's sequence parallelism (Korthikanti et al., arXiv 2205.05198) in both of its forms: the
// gathered input of a column linear is kept for backward, or only its shard is and backward gathers it again.
enum class SequenceParallel { off, kept, regathered };
constexpr auto words(SequenceParallel) { return spelling("off", "kept", "regathered"); }

// What backward computes again instead of keeping it: the core of the attention (Korthikanti et al., section
// 5), or each block from its input on (Chen et al., arXiv 1604.06174).
enum class Recompute { none, selective, full };
constexpr auto words(Recompute) { return spelling("none", "selective", "full"); }

// Column then row communicates once each way; the other order is right too, and dearer by a call each way.
enum class MlpOrder { column_first, row_first };
constexpr auto words(MlpOrder) { return spelling("column_first", "row_first"); }

struct Sharding {
  SequenceParallel sequence_parallel = SequenceParallel::off;
  bool fused = true;         // q,k,v and gate,up are one local weight; else one each
  bool own_entries = false;  // separate weights enter the tensor-parallel region one by one
  MlpOrder mlp_order = MlpOrder::column_first;
  bool gather_output = false;  // of a single column linear
  bool input_is_split = true;  // of a single row linear
  Recompute recompute = Recompute::none;
  // Into how many chunks, at most, the collectives along the sequence are cut inside of blocks, so that the
  // products beside them overlap with them; above 1 under sequence parallelism only.
  int overlap_chunks = 1;
  std::int64_t padded_vocab = 0;  // rows of the embedding and head over all ranks; 0: the vocabulary itself

  bool operator==(const Sharding&) const = default;
};

}  // namespace tpc
