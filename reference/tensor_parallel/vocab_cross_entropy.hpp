// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/tensor_parallel/layer.hpp"

namespace tpc {

// Cross entropy on logits whose vocabulary is sharded, without gathering them: three all_reduces of one value
// per token (largest logit, sum of exponentials, the target's logit), a fourth (sum of logits) where labels
// are smoothed. Formulas: reference/DEFINITIONS.md.
class VocabCrossEntropy {
 public:
  VocabCrossEntropy(const LossDefinition& definition, const VocabSlice& slice);

  struct Loss {
    Tensor mean;    // [1], replicated, in the statistics dtype
    Tensor tokens;  // [S,B], the loss of each token, 0 where ignored
    Saved saved;
  };
  // logits [S,B,width] of this rank's slice; targets [S,B] on every rank.
  Loss forward(Context& ctx, const Tensor& logits, const Tensor& targets) const;
  // dloss [1] is the upstream gradient of the mean. Returns dlogits [S,B,width].
  Tensor backward(Context& ctx, const Tensor& dloss, const Saved& saved) const;

 private:
  LossDefinition definition_;
  VocabSlice slice_;
};

}  // namespace tpc
