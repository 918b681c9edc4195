// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/local_linear.hpp"

namespace tpc {

Tensor as_rows(const Tensor& x) {
  const std::int64_t columns = x.size(-1);
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < x.dims(); ++i) rows *= x.size(i);
  return x.reshaped({rows, columns});
}

Tensor linear(Compute& compute, const Tensor& x, const Tensor& weight, std::string_view label) {
  Shape shape = x.shape();
  shape.back() = weight.size(0);
  Tensor y = compute.allocate(x.dtype(), std::move(shape), label);
  compute.gemm(as_rows(y), as_rows(x), Transpose::no, weight, Transpose::yes);
  return y;
}

Tensor linear_backward_input(Compute& compute, const Tensor& dy, const Tensor& weight) {
  Shape shape = dy.shape();
  shape.back() = weight.size(1);
  Tensor dx = compute.allocate(dy.dtype(), std::move(shape), "dx");
  compute.gemm(as_rows(dx), as_rows(dy), Transpose::no, weight, Transpose::no);
  return dx;
}

Tensor linear_backward_weight(Compute& compute, const Tensor& dy, const Tensor& x) {
  Tensor dw = compute.allocate(dy.dtype(), {dy.size(-1), x.size(-1)}, "dw");
  compute.gemm(dw, as_rows(dy), Transpose::yes, as_rows(x), Transpose::no);
  return dw;
}

Tensor linear_backward_bias(Compute& compute, const Tensor& dy) {
  Tensor db = compute.allocate(dy.dtype(), {dy.size(-1)}, "db");
  compute.sum_rows(db, as_rows(dy));
  return db;
}

}  // namespace tpc
