// SPDX-License-Identifier: Apache-2.0
// What faults do to the elements of tensors on the host. Nothing where nothing is stored.
#pragma once

#include "reference/core/tensor.hpp"

namespace tpc {

// Replaces each element of a floating tensor by f(index, element), computed in f64.
template <class F>
void edit_elements(const Tensor& tensor, F&& f) {
  if (tensor.raw() == nullptr) return;
  visit_float(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const values = tensor.data<T>();
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      const double edited = f(i, static_cast<double>(values[i]));
      if constexpr (std::is_same_v<T, bf16>)
        values[i] = bf16(static_cast<float>(edited));
      else
        values[i] = static_cast<T>(edited);
    }
  });
}

inline void scale_elements(const Tensor& tensor, double factor) {
  edit_elements(tensor, [factor](std::int64_t, double value) { return value * factor; });
}

inline void round_to_bf16(const Tensor& tensor) {
  edit_elements(tensor, [](std::int64_t, double value) {
    return static_cast<double>(static_cast<float>(bf16(static_cast<float>(value))));
  });
}

}  // namespace tpc
