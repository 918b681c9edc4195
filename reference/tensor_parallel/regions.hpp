// SPDX-License-Identifier: Apache-2.0
// The places where a layer communicates. Each region is a pair of dual maps between layouts over the `tp`
// axis; reference/README.md has the table and a diagram of each. Activations are [S,B,..]: the sequence is
// dim 0. On one rank every region is the identity and returns its operand.
#pragma once

#include "reference/tensor_parallel/context.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// Megatron-LM's f (Shoeybi et al., arXiv 1909.08053, section 3): replicate -> replicate; gradient partial ->
// replicate.
struct CopyToTp {
  static Tensor forward(Context& ctx, const Tensor& x);
  static Tensor backward(Context& ctx, const Tensor& dx_partial);  // in place
};

// Megatron-LM's g: partial -> replicate; gradient replicate -> replicate.
struct ReduceFromTp {
  static Tensor forward(Context& ctx, const Tensor& y_partial);  // in place
  static Tensor backward(Context& ctx, const Tensor& dy);
};

// shard(S) -> replicate; gradient partial -> shard(S). Korthikanti et al., arXiv 2205.05198, section 4.2.2.
struct GatherFromSp {
  static Tensor forward(Context& ctx, const Tensor& x_shard);
  static Tensor backward(Context& ctx, const Tensor& dx_partial);
};

// partial -> shard(S); gradient shard(S) -> replicate.
struct ReduceScatterToSp {
  static Tensor forward(Context& ctx, const Tensor& y_partial);
  static Tensor backward(Context& ctx, const Tensor& dy_shard);
};

// replicate -> shard(last); gradient shard(last) -> replicate.
struct ScatterToTp {
  static Tensor forward(Context& ctx, const Tensor& x);
  static Tensor backward(Context& ctx, const Tensor& dx_shard);
};

// shard(last) -> replicate; gradient replicate -> shard(last).
struct GatherFromTp {
  static Tensor forward(Context& ctx, const Tensor& x_shard);
  static Tensor backward(Context& ctx, const Tensor& dx);
};

// How a column linear is entered and a row linear is left, without and with sequence parallelism.
Tensor enter_tp(Context& ctx, SequenceParallel sp, const Tensor& x);
Tensor enter_tp_backward(Context& ctx, SequenceParallel sp, const Tensor& dx_partial);
Tensor leave_tp(Context& ctx, SequenceParallel sp, const Tensor& y_partial);
Tensor leave_tp_backward(Context& ctx, SequenceParallel sp, const Tensor& dy);

}  // namespace tpc
