// SPDX-License-Identifier: Apache-2.0
// What each call of Compute demands of its operands, stated once for all backends. A violation is a
// ContractError that names the call and the shapes.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "reference/compute/compute.hpp"

namespace tpc::checks {

using Operands = std::initializer_list<Tensor>;

struct Rows {
  std::int64_t count;
  std::int64_t width;
};
// A tensor read as rows of its last dim.
Rows rows_of(const Tensor& x);

struct Gemm {
  std::int64_t batch, m, n, k;
  bool shared_b;
};
Gemm gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb);

void copy(const Tensor& y, const Tensor& x);
void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                const Shape& extent);
void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order);

// All of one floating dtype and one shape. Returns the number of elements.
std::int64_t elementwise(std::string_view call, Operands operands);
std::int64_t dropout(const Tensor& y, const Tensor& x, const Tensor& mask);
void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config);

Rows add_rows(const Tensor& y, const Tensor& x, const Tensor& vector);
Rows sum_rows(const Tensor& vector, const Tensor& x);
Rows softmax(const Tensor& p, const Tensor& scores, bool causal);
Rows softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p);

Rows layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                const Tensor& bias);
Rows layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias, const Tensor& dy,
                         const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& gain);
Rows rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain);
Rows rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                       const Tensor& rstd, const Tensor& gain);

Rows embedding(std::string_view call, const Tensor& rows, const Tensor& ids, const Tensor& weight,
               const VocabSlice& slice);

// How many of a slice's columns are not padding.
std::int64_t valid_width(const VocabSlice& slice);

Rows cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice);
Rows cross_entropy_sums(Operands terms, const Tensor& logits, const Tensor& targets, const VocabSlice& slice);
std::int64_t cross_entropy_loss(Operands terms, const Tensor& targets);
Rows cross_entropy_backward(const Tensor& dlogits, Operands terms, const Tensor& logits,
                            const Tensor& targets, const VocabSlice& slice);
void loss_weights(const Tensor& weights, const Tensor& targets);
std::int64_t dot(const Tensor& scalar, const Tensor& a, const Tensor& b);

}  // namespace tpc::checks
