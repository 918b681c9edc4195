// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/random/random_streams.hpp"
#include "reference/tensor_parallel/layer.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// Inverted dropout (Srivastava et al., JMLR 15, 2014): an element is zero with probability p, else scaled by
// 1/(1-p). Where a tensor is replicated over tp its mask must be the same on all ranks, where it is sharded
// the ranks' masks must be independent; which numbers are drawn is the streams' business.
class Dropout {
 public:
  Dropout(std::string layer, DropoutSite site, double rate);
  Dropout(const Dropout&) = delete;
  Dropout& operator=(const Dropout&) = delete;
  virtual ~Dropout() = default;

  bool active(const Context& ctx) const { return rate_ > 0 && ctx.training; }

  struct Dropped {
    Tensor y;
    Tensor mask;  // u8
  };
  // Only where active. x is left alone.
  Dropped forward(Context& ctx, const Tensor& x, const DrawLayout& layout) const;
  // In place where dx shares elements with dy.
  void backward(Context& ctx, const Tensor& dx, const Tensor& dy, const Tensor& mask) const;

 protected:
  virtual double factor() const { return 1 / (1 - rate_); }  // of what is kept
  double rate() const { return rate_; }

 private:
  std::string layer_;
  DropoutSite site_;
  double rate_;
};

// [S,B,H] on every rank, or this rank's sequence shard of it.
DrawLayout token_draws(const Context& ctx, SequenceParallel sp, const Tensor& x);
// [B,A,S,S] by heads.
DrawLayout head_draws(const Context& ctx, std::int64_t batch, std::int64_t heads, std::int64_t sequence);

}  // namespace tpc
