// SPDX-License-Identifier: Apache-2.0
// What faults do to the elements of tensors, wherever these are. Nothing where nothing is stored.
#pragma once

#include "reference/compute/compute.hpp"

namespace tpc {

// Itself, or a copy of it on the host.
inline Tensor on_host(Compute& compute, const Tensor& tensor) {
  if (tensor.place() != Place::device) return tensor;
  Tensor copy = host_tensor(tensor.dtype(), tensor.shape());
  compute.copy(copy, tensor);
  return copy;
}

// Replaces each element of a floating tensor by f(index, element), computed in f64.
template <class F>
void edit_elements(Compute& compute, const Tensor& tensor, F&& f) {
  if (tensor.place() == Place::nowhere) return;
  const Tensor host = on_host(compute, tensor);
  visit_float(host.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const values = host.data<T>();
    for (std::int64_t i = 0; i < host.count(); ++i) {
      const double edited = f(i, static_cast<double>(values[i]));
      if constexpr (std::is_same_v<T, bf16>)
        values[i] = bf16(static_cast<float>(edited));
      else
        values[i] = static_cast<T>(edited);
    }
  });
  compute.copy(tensor, host);
}

inline void round_to_bf16(Compute& compute, const Tensor& tensor) {
  const Tensor rounded = compute.allocate(DType::bf16, tensor.shape(), "rounded");
  compute.copy(rounded, tensor);
  compute.copy(tensor, rounded);
}

}  // namespace tpc
