// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/overlap.hpp"

#include <algorithm>

namespace tpc {

namespace {

Shape with_rows(Shape shape, std::int64_t rows) {
  shape[0] = rows;
  return shape;
}

int useful_chunks(std::int64_t shard_rows, int chunks) {
  return static_cast<int>(std::min<std::int64_t>(shard_rows, chunks));
}

Communicator& group_of(Context& ctx, const char* region) {
  ctx.site.operation = region;
  return ctx.group(Axis::tp);
}

// A chunk on its way: the buffer that holds it, rank after rank.
struct Travelling {
  ChunkRows rows;
  Tensor buffer;
  Pending pending;
};

}  // namespace

ChunkRows chunk_rows(std::int64_t shard_rows, int chunks, int index) {
  const std::int64_t first = shard_rows * index / chunks;
  return {first, shard_rows * (index + 1) / chunks - first};
}

Tensor gather_in_chunks(Context& ctx, const char* region, const Tensor& shard, int chunks,
                        const UseRows& use) {
  Compute& compute = ctx.compute();
  const int ranks = ctx.tp().size;
  const std::int64_t rows = shard.size(0);
  const int count = useful_chunks(rows, chunks);
  const auto start = [&](int index) {
    const ChunkRows chunk = chunk_rows(rows, count, index);
    Tensor buffer =
        compute.allocate(shard.dtype(), with_rows(shard.shape(), ranks * chunk.count), "gathered chunk");
    Pending pending =
        group_of(ctx, region).start(Call::all_gather(buffer, shard.rows(chunk.first, chunk.count)));
    return Travelling{chunk, std::move(buffer), std::move(pending)};
  };
  Travelling next = start(0);
  Tensor full = compute.allocate(shard.dtype(), with_rows(shard.shape(), ranks * rows), "gathered");
  const std::int64_t own = ctx.tp().rank * rows;
  compute.copy(full.rows(own, rows), shard);
  use(full, own, rows);
  for (int index = 0; index < count; ++index) {
    Travelling arrived = std::move(next);
    arrived.pending.wait();
    if (index + 1 < count) next = start(index + 1);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == ctx.tp().rank) continue;
      const std::int64_t first = rank * rows + arrived.rows.first;
      compute.copy(full.rows(first, arrived.rows.count),
                   arrived.buffer.rows(rank * arrived.rows.count, arrived.rows.count));
      use(full, first, arrived.rows.count);
      group_of(ctx, region).poll();  // a transport without a thread of its own advances here
    }
  }
  return full;
}

Tensor reduce_scatter_in_chunks(Context& ctx, const char* region, const Shape& full, DType dtype, int chunks,
                                const MakeRows& make) {
  Compute& compute = ctx.compute();
  const int ranks = ctx.tp().size;
  TPC_EXPECT(full.at(0) % ranks == 0, "a sequence of {} over {} ranks", full.at(0), ranks);
  const std::int64_t rows = full[0] / ranks;
  const int count = useful_chunks(rows, chunks);
  Tensor shard = compute.allocate(dtype, with_rows(full, rows), "scattered");
  Travelling before;
  for (int index = 0; index < count; ++index) {
    const ChunkRows chunk = chunk_rows(rows, count, index);
    Tensor buffer = compute.allocate(dtype, with_rows(full, ranks * chunk.count), "chunk to scatter");
    for (int rank = 0; rank < ranks; ++rank) {
      make(buffer.rows(rank * chunk.count, chunk.count), rank * rows + chunk.first);
      group_of(ctx, region).poll();
    }
    before.pending.wait();  // at most one travels while the next is made
    Pending pending =
        group_of(ctx, region)
            .start(Call::reduce_scatter(shard.rows(chunk.first, chunk.count), buffer, ReduceOp::sum));
    before = {chunk, std::move(buffer), std::move(pending)};
  }
  before.pending.wait();
  return shard;
}

}  // namespace tpc
