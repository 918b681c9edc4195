// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/tensor_parallel/column_linear.hpp"
#include "reference/tensor_parallel/core_attention.hpp"
#include "reference/tensor_parallel/row_linear.hpp"

namespace tpc {

// The heads of one rank. Query head a reads kv head a / (A/K). With at least as many kv heads as ranks each
// rank has K/T of its own; with fewer, T/K neighbouring ranks hold copies of one, and the gradients of its
// projections are a sum over them.
struct HeadSlice {
  std::int64_t query = 0;     // local query heads
  std::int64_t kv = 0;        // local kv heads
  std::int64_t first_kv = 0;  // canonical index of the first local kv head
  int kv_copies = 1;          // ranks that hold the same kv head
};
HeadSlice head_slice(const ModelConfig& config, const Coordinate& tp);

// Multi-head (Vaswani et al., arXiv 1706.03762), multi-query (arXiv 1911.02150) and grouped-query attention
// (arXiv 2305.13245), split by heads: q, k, v are column linears, the output projection is a row linear, and
// in between nothing communicates.
class Attention : public Layer {
 public:
  Attention(const std::string& name, const LayerPlan& plan);

  std::vector<ParameterSpec> parameters() const override;
  Output forward(Context& ctx, const Parameters& params, const Tensor& x) const override;
  InputGradient backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                               Saved saved) const override;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const override;

 private:
  Tensor split_heads(Compute& compute, const Tensor& x, const char* what) const;  // [S,B,h·D] -> [B,h,S,D]
  Tensor merge_heads(Compute& compute, const Tensor& x) const;                    // and back
  Tensor rotate(Compute& compute, const Tensor& x, Direction direction) const;    // [S,B,h·D], where rotary

  ModelConfig config_;
  std::unique_ptr<ColumnLinears> qkv_;
  CoreAttention core_;
  std::unique_ptr<RowLinear> out_;
};

}  // namespace tpc
