// SPDX-License-Identifier: Apache-2.0
// Collectives along the sequence cut into chunks, so that a product works on one chunk while the next travels
// (Wang et al., ASPLOS 2023, "Overlap Communication with Dependent Computation via Decomposition"). A chunk
// is an equal share, up to one row, of each rank's shard of the sequence, and there are at most as many as
// the shard has rows: as many bytes travel as in one call.
#pragma once

#include <functional>

#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// Of a shard with so many rows: its rows [first, first + count) for chunk `index` of `chunks`.
struct ChunkRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
ChunkRows chunk_rows(std::int64_t shard_rows, int chunks, int index);

// all_gather, then product. Returns the whole; `use` sees each of its rows once, in pieces, those of this
// rank first, while others travel.
using UseRows = std::function<void(const Tensor& full, std::int64_t first, std::int64_t count)>;
Tensor gather_in_chunks(Context& ctx, const char* region, const Tensor& shard, int chunks,
                        const UseRows& use);

// Product, then reduce_scatter. `make` writes the rows from `first` on of this rank's summand of the whole,
// as many as `piece` has. Returns this rank's shard of the sum.
using MakeRows = std::function<void(const Tensor& piece, std::int64_t first)>;
Tensor reduce_scatter_in_chunks(Context& ctx, const char* region, const Shape& full, DType dtype, int chunks,
                                const MakeRows& make);

}  // namespace tpc
