// SPDX-License-Identifier: Apache-2.0
// The products of one linear layer on one rank; nothing here communicates. Tensors of more than two dims are
// read as rows of their last dim.
#pragma once

#include <string_view>

#include "reference/compute/compute.hpp"

namespace tpc {

Tensor as_rows(const Tensor& x);  // [.., C] seen as [R, C]

Tensor linear(Compute& compute, const Tensor& x, const Tensor& weight, std::string_view label);  // x·Wᵀ
Tensor linear_backward_input(Compute& compute, const Tensor& dy, const Tensor& weight);          // dy·W
Tensor linear_backward_weight(Compute& compute, const Tensor& dy, const Tensor& x);              // dyᵀ·x
Tensor linear_backward_bias(Compute& compute, const Tensor& dy);  // sum over rows

}  // namespace tpc
