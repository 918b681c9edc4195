// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/layer.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// Row parallelism (Shoeybi et al., arXiv 1909.08053, section 3): y = sum over ranks of x_r·W_rᵀ, plus the
// bias once, after the sum. x_r is this rank's shard of the last dim. y is replicated, or this rank's
// sequence shard; in the latter case the bias sees a part of the tokens only, and its gradient stays a
// pending sum over tp.
class RowLinear : public Layer {
 public:
  struct Options {
    std::int64_t in_features = 0;  // of the whole weight
    std::int64_t out_features = 0;
    bool bias = false;
    bool input_is_split = true;  // else x is replicated and sliced here
    SequenceParallel sequence_parallel = SequenceParallel::off;
    int overlap_chunks = 1;  // see Sharding
  };
  RowLinear(const std::string& name, const Position& at, const Options& options);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 protected:
  struct Backward {
    Tensor dy;  // whole
    Tensor dx;
  };
  // Steps. In each rank's partial sum the bias would count once per rank: it is added when the sum is there.
  virtual void add_bias(Context& ctx, const Parameters& params, const Tensor& y) const;
  virtual Tensor bias_gradient(Context& ctx, const Tensor& dy) const;
  // The whole gradient of y, and that of x.
  virtual Backward multiply_back(Context& ctx, const Tensor& dy, const Tensor& weight) const;
  virtual Tensor leave_backward(Context& ctx, const Tensor& dy) const;

  const Coordinate& tp() const { return tp_; }
  const Options& options() const { return options_; }

 private:
  // The product with its region, one after the other or overlapped.
  Tensor multiply(Context& ctx, const Tensor& x, const Tensor& weight) const;
  bool overlaps(const Context& ctx) const { return options_.overlap_chunks > 1 && ctx.tp().size > 1; }

  Coordinate tp_;
  Options options_;
};

}  // namespace tpc
