// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/regions.hpp"

namespace tpc {

namespace {

Communicator& tp_group(Context& ctx, const char* region) {
  ctx.site.operation = region;
  return ctx.group(Axis::tp);
}

bool alone(const Context& ctx) { return ctx.tp().size == 1; }

Tensor all_reduce(Context& ctx, const char* region, const Tensor& x) {
  if (!alone(ctx)) tp_group(ctx, region).all_reduce(x, x, ReduceOp::sum);
  return x;
}

Tensor gather_sequence(Context& ctx, const char* region, const Tensor& shard) {
  if (alone(ctx)) return shard;
  Shape shape = shard.shape();
  shape[0] *= ctx.tp().size;
  Tensor full = ctx.compute().allocate(shard.dtype(), std::move(shape), "gathered");
  tp_group(ctx, region).all_gather(full, shard);
  return full;
}

Tensor reduce_scatter_sequence(Context& ctx, const char* region, const Tensor& partial) {
  if (alone(ctx)) return partial;
  TPC_EXPECT(partial.size(0) % ctx.tp().size == 0, "a sequence of {} over {} ranks", partial.size(0),
             ctx.tp().size);
  Shape shape = partial.shape();
  shape[0] /= ctx.tp().size;
  Tensor shard = ctx.compute().allocate(partial.dtype(), std::move(shape), "scattered");
  tp_group(ctx, region).reduce_scatter(shard, partial, ReduceOp::sum);
  return shard;
}

// A copy, so that the whole is not kept alive by its part.
Tensor slice_last(Context& ctx, const Tensor& full) {
  if (alone(ctx)) return full;
  TPC_EXPECT(full.size(-1) % ctx.tp().size == 0, "a last dim of {} over {} ranks", full.size(-1),
             ctx.tp().size);
  Shape extent = full.shape();
  extent.back() /= ctx.tp().size;
  Shape from(extent.size(), 0);
  from.back() = extent.back() * ctx.tp().rank;
  Tensor shard = ctx.compute().allocate(full.dtype(), extent, "slice");
  ctx.compute().copy_block(shard, Shape(extent.size(), 0), full, from, extent);
  return shard;
}

// Ranks' shards arrive one after the other; the last dim of the whole interleaves them.
Tensor gather_last(Context& ctx, const char* region, const Tensor& shard) {
  if (alone(ctx)) return shard;
  const std::int64_t ranks = ctx.tp().size;
  const std::int64_t width = shard.size(-1);
  const std::int64_t rows = width == 0 ? 0 : shard.count() / width;
  const Tensor stacked = ctx.compute().allocate(shard.dtype(), {ranks * rows, width}, "gathered by rank");
  tp_group(ctx, region).all_gather(stacked, shard.reshaped({rows, width}));
  Shape shape = shard.shape();
  shape.back() *= ranks;
  Tensor full = ctx.compute().allocate(shard.dtype(), std::move(shape), "gathered");
  ctx.compute().permute(full.reshaped({rows, ranks, width}), stacked.reshaped({ranks, rows, width}),
                        {1, 0, 2});
  return full;
}

}  // namespace

Tensor CopyToTp::forward(Context& /*ctx*/, const Tensor& x) { return x; }
Tensor CopyToTp::backward(Context& ctx, const Tensor& dx_partial) {
  return all_reduce(ctx, "copy_to_tp", dx_partial);
}

Tensor ReduceFromTp::forward(Context& ctx, const Tensor& y_partial) {
  return all_reduce(ctx, "reduce_from_tp", y_partial);
}
Tensor ReduceFromTp::backward(Context& /*ctx*/, const Tensor& dy) { return dy; }

Tensor GatherFromSp::forward(Context& ctx, const Tensor& x_shard) {
  return gather_sequence(ctx, "gather_from_sp", x_shard);
}
Tensor GatherFromSp::backward(Context& ctx, const Tensor& dx_partial) {
  return reduce_scatter_sequence(ctx, "gather_from_sp", dx_partial);
}

Tensor ReduceScatterToSp::forward(Context& ctx, const Tensor& y_partial) {
  return reduce_scatter_sequence(ctx, "reduce_scatter_to_sp", y_partial);
}
Tensor ReduceScatterToSp::backward(Context& ctx, const Tensor& dy_shard) {
  return gather_sequence(ctx, "reduce_scatter_to_sp", dy_shard);
}

Tensor ScatterToTp::forward(Context& ctx, const Tensor& x) { return slice_last(ctx, x); }
Tensor ScatterToTp::backward(Context& ctx, const Tensor& dx_shard) {
  return gather_last(ctx, "scatter_to_tp", dx_shard);
}

Tensor GatherFromTp::forward(Context& ctx, const Tensor& x_shard) {
  return gather_last(ctx, "gather_from_tp", x_shard);
}
Tensor GatherFromTp::backward(Context& ctx, const Tensor& dx) { return slice_last(ctx, dx); }

Tensor enter_tp(Context& ctx, SequenceParallel sp, const Tensor& x) {
  return sp == SequenceParallel::off ? CopyToTp::forward(ctx, x) : GatherFromSp::forward(ctx, x);
}
Tensor enter_tp_backward(Context& ctx, SequenceParallel sp, const Tensor& dx_partial) {
  return sp == SequenceParallel::off ? CopyToTp::backward(ctx, dx_partial)
                                     : GatherFromSp::backward(ctx, dx_partial);
}
Tensor leave_tp(Context& ctx, SequenceParallel sp, const Tensor& y_partial) {
  return sp == SequenceParallel::off ? ReduceFromTp::forward(ctx, y_partial)
                                     : ReduceScatterToSp::forward(ctx, y_partial);
}
Tensor leave_tp_backward(Context& ctx, SequenceParallel sp, const Tensor& dy) {
  return sp == SequenceParallel::off ? ReduceFromTp::backward(ctx, dy) : ReduceScatterToSp::backward(ctx, dy);
}

}  // namespace tpc
