// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reference/tensor_parallel/layer.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

// One weight's rows on this rank, of a group of column linears that read the same input.
struct ColumnPart {
  std::string name;        // of the canonical weight without ".weight": "blocks.0.attention.q"
  std::int64_t rows = 0;   // of the canonical weight
  std::int64_t first = 0;  // this rank's first row
  std::int64_t width = 0;  // and their number; rows beyond the canonical ones are padding and zero
  std::vector<std::string> gradient_pending_over;  // where ranks hold copies of the same rows
};
// Equal contiguous shards.
ColumnPart even_part(const std::string& name, std::int64_t rows, int rank, int ranks);

// Column parallelism (Shoeybi et al., arXiv 1909.08053, section 3): y_p = x·W_pᵀ + b_p for each part p, on
// this rank's rows of W_p. The parts share one entry into the tensor-parallel region: one collective each
// way, however many parts. Fused, their local weights lie one below the other in one tensor and one product
// serves them all.
class ColumnLinears {
 public:
  // shared: the parts' input gradients are summed on each rank, and the region is left once. own: each part
  // leaves it for itself, one collective each, as modules do that know nothing of one another.
  enum class Entry { shared, own };
  struct Options {
    std::string fused_name;  // of the local weight where several parts are fused: "blocks.0.attention.qkv"
    std::int64_t in_features = 0;
    bool bias = false;
    bool fused = true;
    SequenceParallel sequence_parallel = SequenceParallel::off;
    Entry entry = Entry::shared;  // own: with separate weights, without sequence parallelism
    int overlap_chunks = 1;       // see Sharding
  };
  ColumnLinears(std::vector<ColumnPart> parts, Options options);

  struct Outputs {
    std::vector<Tensor> y;  // one per part, [.., width]
    Saved saved;
  };

  std::vector<ParameterSpec> parameters() const;
  // x: replicated, or this rank's sequence shard.
  Outputs forward(Context& ctx, const Parameters& params, const Tensor& x) const;
  // dx has x's layout.
  InputGradient backward_input(Context& ctx, const Parameters& params, const std::vector<Tensor>& dy,
                               Saved saved) const;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const;

 private:
  struct LocalWeight {
    std::string name;
    std::vector<ColumnPart> parts;
    std::int64_t rows = 0;
  };
  std::vector<Tensor> split(Compute& compute, const LocalWeight& weight, const Tensor& y) const;
  Tensor join_parts(Compute& compute, const LocalWeight& weight, const Tensor* dy) const;
  bool overlaps(const Context& ctx) const { return options_.overlap_chunks > 1 && ctx.tp_size() > 1; }
  // Products with all weights: appends one y for each, and returns the whole x.
  Tensor multiply(Context& ctx, const Parameters& params, const Tensor& x, std::vector<Tensor>& y) const;
  // joined: the gradient of each weight's y. Returns the gradient of x, its region left.
  Tensor multiply_back(Context& ctx, const Parameters& params, const std::vector<Tensor>& joined) const;
  bool gathers_again(const Context& ctx) const;
  bool leaves_out_kv(const Context& ctx) const;  // only where that is planted

  std::vector<LocalWeight> weights_;
  Options options_;
};

// A single column linear. Its output stays sharded along the last dim, or is gathered.
class ColumnLinear : public Layer {
 public:
  enum class Result { sharded, gathered };
  ColumnLinear(const ColumnPart& part, const ColumnLinears::Options& options, Result result);

  std::vector<ParameterSpec> parameters() const override { return linears_.parameters(); }
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  ColumnLinears linears_;
  Result result_;
};

}  // namespace tpc
