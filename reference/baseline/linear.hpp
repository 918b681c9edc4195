// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// y = x·Wᵀ + b with W [out, in], b [out]; its parameters are `weight` and `bias` of the scope.
class Linear {
 public:
  struct Size {
    std::int64_t in = 0;
    std::int64_t out = 0;
  };
  Linear(Scope scope, Size size, bool has_bias)
      : scope_(std::move(scope)), size_(size), has_bias_(has_bias) {}

  Terms forward(const Values& x, Magnitudes asked = Magnitudes::skipped) const;
  Terms backward_input(const Values& dy, Magnitudes asked = Magnitudes::skipped) const;
  // Where dy is itself what a cancellation left over, `magnitudes` are those of its terms, of dy's shape, and
  // the gradients' scales are made of them.
  void backward_parameters(const Values& x, const Values& dy) const { backward_parameters(x, dy, dy); }
  void backward_parameters(const Values& x, const Values& dy, const Values& magnitudes) const;

 private:
  void bias_gradient(const Values& dy, const Values& magnitudes) const;

  Scope scope_;
  Size size_;
  bool has_bias_;
};

// dW = dyᵀ·x, and its magnitudes for scale_of_rows.
Values weight_gradient(const Values& dy, const Values& x, Linear::Size size);
FillRows weight_gradient_magnitudes(const Values& dy, const Values& x, Linear::Size size);

}  // namespace tpc::baseline
