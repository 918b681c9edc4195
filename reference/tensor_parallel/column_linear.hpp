// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/tensor_parallel/layer.hpp"
#include "reference/tensor_parallel/sharding.hpp"

namespace tpc {

struct LayerPlan;  // parts.hpp

// One weight's rows on this rank, of a group of column linears that read the same input.
struct ColumnPart {
  std::string name;        // of the canonical weight without ".weight": "blocks.0.attention.q"
  std::int64_t rows = 0;   // of the canonical weight
  std::int64_t first = 0;  // this rank's first row
  std::int64_t width = 0;  // and their number; rows beyond the canonical ones are padding and zero
  int copies = 1;          // neighbours on tp that hold these rows, too; each has a term of their gradient
};
// Equal contiguous shards.
ColumnPart even_part(const std::string& name, std::int64_t rows, const Position& at);

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
    std::string fused_name =
        {};  // of the local weight where several parts are fused: "blocks.0.attention.qkv"
    std::int64_t in_features = 0;
    bool bias = false;
    bool fused = true;
    SequenceParallel sequence_parallel = SequenceParallel::off;
    Entry entry = Entry::shared;  // own: with separate weights, without sequence parallelism
    int overlap_chunks = 1;       // see Sharding
  };
  ColumnLinears(std::vector<ColumnPart> parts, Options options);
  ColumnLinears(const ColumnLinears&) = delete;
  ColumnLinears& operator=(const ColumnLinears&) = delete;
  virtual ~ColumnLinears() = default;

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

 protected:
  struct LocalWeight {
    std::string name;
    std::vector<ColumnPart> parts;
    std::int64_t rows = 0;
  };
  // Steps. Whether backward gathers x anew, or forward keeps it whole.
  virtual bool gathers_again(const Context& ctx) const;
  // joined: the gradient of each weight's y. Returns the gradient of x, its region left.
  virtual Tensor multiply_back(Context& ctx, const Parameters& params,
                               const std::vector<Tensor>& joined) const;

  const std::vector<LocalWeight>& weights() const { return weights_; }
  const Options& options() const { return options_; }

 private:
  std::vector<Tensor> split(Compute& compute, const LocalWeight& weight, const Tensor& y) const;
  Tensor join_parts(Compute& compute, const LocalWeight& weight, const Tensor* dy) const;
  bool overlaps(const Context& ctx) const { return options_.overlap_chunks > 1 && ctx.tp().size > 1; }
  // Products with all weights: appends one y for each, and returns the whole x.
  Tensor multiply(Context& ctx, const Parameters& params, const Tensor& x, std::vector<Tensor>& y) const;

  std::vector<LocalWeight> weights_;
  Options options_;
};

// As the linears of a block are cut that read its whole hidden size: q, k, v; gate, up.
ColumnLinears::Options column_options(const LayerPlan& plan, const std::string& fused_name, bool bias);

// A single column linear. Its output stays sharded along the last dim, or is gathered.
class ColumnLinear : public Layer {
 public:
  enum class Result { sharded, gathered };
  ColumnLinear(const ColumnPart& part, std::unique_ptr<ColumnLinears> linears, Result result);

  std::vector<ParameterSpec> parameters() const override { return linears_->parameters(); }
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 protected:
  // A step: the gradient of this rank's shard of y.
  virtual Tensor leave_backward(Context& ctx, const Tensor& dy) const;
  Result result() const { return result_; }

 private:
  std::unique_ptr<ColumnLinears> linears_;
  Result result_;
};

}  // namespace tpc
