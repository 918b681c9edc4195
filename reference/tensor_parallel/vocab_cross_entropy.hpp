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
  VocabCrossEntropy(const VocabCrossEntropy&) = delete;
  VocabCrossEntropy& operator=(const VocabCrossEntropy&) = delete;
  virtual ~VocabCrossEntropy() = default;

  struct Loss {
    Tensor mean;    // [1], replicated, in the statistics dtype
    Tensor tokens;  // [S,B], the loss of each token, 0 where ignored
    Saved saved;
  };
  // logits [S,B,width] of this rank's slice; targets [S,B] on every rank.
  virtual Loss forward(Context& ctx, const Tensor& logits, const Tensor& targets) const;
  // dloss [1] is the upstream gradient of the mean. Returns dlogits [S,B,width].
  Tensor backward(Context& ctx, const Tensor& dloss, const Saved& saved) const;

 protected:
  // What a loss is made of: the shard's logits [tokens, width], and for each token its target, the terms of
  // its loss and, backward, the upstream gradient of it.
  struct Rows {
    Tensor logits;
    Tensor targets;
    Tensor max;
    Tensor sum_exp;
    Tensor target_logit = {};
    Tensor sum_logit = {};
    Tensor seeds = {};
  };
  // Steps. This rank's terms of the sums over the vocabulary; the loss of each token from the sums; the
  // upstream gradient of each token's loss from that of the mean; the gradient of the logits.
  virtual void make_terms(Context& ctx, const Rows& rows) const;
  virtual void make_losses(Context& ctx, const Tensor& losses, const Rows& rows) const;
  virtual void make_seeds(Context& ctx, const Rows& rows, const Tensor& weights, const Tensor& dloss) const;
  virtual void make_gradient(Context& ctx, const Tensor& dlogits, const Rows& rows) const;

  const LossDefinition& definition() const { return definition_; }
  const VocabSlice& slice() const { return slice_; }

 private:
  LossDefinition definition_;
  VocabSlice slice_;
};

}  // namespace tpc
