// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>

#include "reference/optimizer/optimizer.hpp"

namespace tpc {

// The tensors of an optimizer, each zero until its first step.
class StateTensors {
 public:
  explicit StateTensors(DType dtype);

  Tensor of(Compute& compute, const std::string& kind, const std::string& parameter, const Tensor& like);

  std::map<std::string, Tensor> copy() const;
  void restore(const std::map<std::string, Tensor>& tensors);

 private:
  DType dtype_;
  std::map<std::string, Tensor> tensors_;
};

// A parameter with its gradient, checked.
struct Update {
  Tensor parameter;
  Tensor gradient;  // in the dtype of the arithmetic
};
Update checked_update(Compute& compute, const std::string& name, const Tensor& parameter,
                      const Gradients& gradients, DType states);

// The number as T, by way of f32 where T is bf16.
template <class T>
T rounded_to(double value) {
  if constexpr (std::is_same_v<T, bf16>)
    return bf16(static_cast<float>(value));
  else
    return static_cast<T>(value);
}

// Calls f(parameter's type, state's type, arithmetic's type), each as a zero.
template <class F>
void visit_update(DType parameter, DType state, F&& f) {
  visit_float(parameter, [&](auto p) {
    if (parameter == DType::f64 || state == DType::f64) {
      if (state == DType::f64)
        f(p, double{}, double{});
      else
        f(p, float{}, double{});
    } else {
      f(p, float{}, float{});
    }
  });
}

}  // namespace tpc
