// SPDX-License-Identifier: Apache-2.0
// What each call of Compute demands of its operands. A violation is a ContractError that names the kernel and
// the shapes.
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

Product gemm(const Tensor& c, const Tensor& a, Transpose ta, const Tensor& b, Transpose tb);

void copy(const Tensor& y, const Tensor& x);
void copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                const Shape& extent);
void permute(const Tensor& y, const Tensor& x, const std::vector<int>& order);

// All of one floating dtype and one shape.
void elementwise(std::string_view kernel, Operands operands);
void dropout(const Tensor& y, const Tensor& x, const Tensor& mask);
void rotary(const Tensor& y, const Tensor& x, const ModelConfig& config);

void add_rows(const Tensor& y, const Tensor& x, const Tensor& vector);
void sum_rows(const Tensor& vector, const Tensor& x);
void softmax(const Tensor& p, const Tensor& scores, bool causal);

// matrices: of x's rows and dtype; vectors: [width] of x's dtype; stats: one per row.
struct NormOperands {
  Operands matrices, vectors, stats;
};
void norm(std::string_view kernel, const Tensor& x, const NormOperands& operands);

void embedding(std::string_view kernel, const Tensor& rows, const Tensor& ids, const Tensor& weight,
               const VocabSlice& slice);

// How many of a slice's columns are not padding.
std::int64_t valid_width(const VocabSlice& slice);

// terms: one per row.
void cross_entropy(std::string_view kernel, Operands terms, const Tensor& logits, const VocabSlice& slice,
                   const Tensor& targets = {});
void cross_entropy_loss(Operands terms, const Tensor& targets);
void loss_weights(const Tensor& weights, const Tensor& targets);
void dot(const Tensor& scalar, const Tensor& a, const Tensor& b);

}  // namespace tpc::checks
