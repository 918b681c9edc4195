// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// y = x ⊙ mask/(1-p), its own backward. Which elements are kept is an input, here as everywhere in this
// folder: without the mask `mask.<site>` of the scope nothing is dropped, as in evaluation.
class Dropout {
 public:
  Dropout(Scope scope, const std::string& site, double rate);

  bool active() const { return scope_.has(mask_); }
  Values apply(Values x, const Shape& shape) const;
  Terms apply(Terms x, const Shape& shape) const;

 private:
  Scope scope_;
  std::string mask_;
  double rate_;
};

}  // namespace tpc::baseline
