// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/compute/compute.hpp"
#include "reference/tensor_parallel/column_linear.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// A rank's rows of the vocabulary, padded to a multiple of the ranks where the sharding says so. The rows
// that pad are the last ones, so only the last ranks have any.
inline VocabSlice vocab_slice(const ModelConfig& config, const Sharding& sharding, const Coordinate& tp) {
  const std::int64_t padded = sharding.padded_vocab == 0 ? config.vocab : sharding.padded_vocab;
  TPC_EXPECT(padded >= config.vocab && padded % tp.size == 0, "a vocabulary of {} padded to {} over {} ranks",
             config.vocab, padded, tp.size);
  return {padded / tp.size * tp.rank, padded / tp.size, config.vocab};
}

inline ColumnPart vocab_part(const std::string& name, const VocabSlice& slice) {
  return {name, slice.valid, slice.first, slice.width};
}

}  // namespace tpc
