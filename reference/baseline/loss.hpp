// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// Cross entropy of logits [tokens, V] with the scope's targets: smoothed, with z-loss, averaged.
class CrossEntropy {
 public:
  explicit CrossEntropy(Scope scope);

  // Answers token_loss and loss.
  void forward(const Values& logits);
  // The gradient of dloss·loss, made in the logits' place.
  Terms backward(Values logits, double dloss, Magnitudes asked) const;

 private:
  struct TokenLoss {
    double value = 0;
    double magnitude = 0;
  };
  TokenLoss token_loss(const double* logits, std::int64_t token);

  Scope scope_;
  std::vector<std::int64_t> targets_;  // -1 where ignored
  double weight_ = 0;                  // of each token that counts
  Values log_sum_exp_;
  double largest_sum_ = 0;
};

}  // namespace tpc::baseline
