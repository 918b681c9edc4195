// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/dropout.hpp"

namespace tpc::baseline {

// y[s,b] = dropout(weight[ids[s,b]] (+ positions[s] where they are learned)). Its parameters are
// `weight_name` [V, H] and `positions.weight`.
class Embedding {
 public:
  Embedding(Scope scope, std::string weight_name);

  Terms forward() const;
  // What the others take: the gradient before dropout.
  Values backward_dropout(Values dy) const;
  // The gradient of the position table only.
  void backward_positions(const Values& dy) const;
  // The gradient of the word table, added to what is there, and its magnitudes for scale_of_rows.
  void add_weight_gradient(const Values& dy, Values& gradient) const;
  FillRows weight_gradient_magnitudes(const Values& dy) const;
  // Both, for a table that is used nowhere else.
  void backward(const Values& dy) const;

  const std::string& weight_name() const { return weight_name_; }

 private:
  Shape shape() const { return {scope_.sequence(), scope_.batch(), scope_.config().hidden}; }

  Scope scope_;
  std::string weight_name_;
  Dropout dropout_;
  std::vector<std::int64_t> ids_;
};

}  // namespace tpc::baseline
