// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

// A decoder of the GPT-2 or Llama style: vocab-parallel embedding, pre-norm blocks, a final norm, a
// column-parallel head (its own weight, or the embedding's) and the vocab-parallel cross entropy, which never
// gathers the logits.
class Transformer {
 public:
  explicit Transformer(const LayerPlan& plan);

  struct Loss {
    Tensor mean;    // [1]
    Tensor tokens;  // [S,B]
    Saved saved;
  };

  std::vector<ParameterSpec> parameters() const;  // a tied head has none of its own
  // ids and targets [S,B], the same on every rank.
  Loss forward(Context& ctx, const Parameters& params, const Tensor& ids, const Tensor& targets) const;
  // dloss [1], the upstream gradient of the mean. Gradients that are pending sums are left so; see
  // tensor_parallel/gradient_finalisation.hpp.
  void backward(Context& ctx, const Parameters& params, const Tensor& dloss, Saved saved,
                Gradients& gradients) const;

 private:
  bool tied_;
  std::unique_ptr<VocabEmbedding> embedding_;
  std::vector<std::unique_ptr<Layer>> blocks_;
  Norm final_norm_;
  std::unique_ptr<ColumnLinear> head_;
  std::unique_ptr<VocabCrossEntropy> cross_entropy_;
};

}  // namespace tpc
