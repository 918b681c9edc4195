// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/parameters/parameter_source.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

// Layers one after the other, and the loss where they end in one: a whole model, a pipeline stage of it, or a
// single layer. What follows here drives layers; nothing else does.
class Stage {
 public:
  // Either may be missing: without layers x goes to the loss, without a loss y is what the last layer
  // answers.
  explicit Stage(std::vector<std::unique_ptr<Layer>> layers,
                 std::unique_ptr<VocabCrossEntropy> loss = nullptr);

  bool ends_in_loss() const { return loss_ != nullptr; }
  // Of all layers, in their order. What several of them read is there once, with its number of uses.
  std::vector<ParameterSpec> parameters() const;

  struct Result {
    Tensor y;            // activation for the next stage, or the mean loss [1]
    Tensor tokens = {};  // the loss of each token [S,B]
    Saved saved = {};
  };
  // x is what the first layer takes: ids [S,B] on every rank, or activations as they are laid out there.
  // targets [S,B] where it ends in a loss.
  Result forward(Context& ctx, ParameterSource& params, const Tensor& x, const Tensor& targets = {}) const;

  // dy is the gradient of y. Gradients that are pending sums over ranks are left so
  // (tensor_parallel/gradient_finalisation.hpp). Returns the gradient of x, none behind an embedding.
  Tensor backward(Context& ctx, ParameterSource& params, const Tensor& dy, Saved saved,
                  Gradients& gradients) const;
  // The same in two parts, between which a schedule may put other work.
  InputGradient backward_input(Context& ctx, ParameterSource& params, const Tensor& dy, Saved saved) const;
  void backward_weight(Context& ctx, Saved rest, Gradients& gradients) const;

 private:
  struct Step {
    std::string kept_as;
    std::unique_ptr<Layer> layer;
  };
  std::vector<Step> steps_;
  std::unique_ptr<VocabCrossEntropy> loss_;
  std::string loss_kept_as_;
};

// A range of a model's blocks.
struct StageRange {
  std::int64_t first = 0;
  std::int64_t end = 0;  // one past the last
  bool embedding = false;
  bool head = false;  // final norm, head and loss
};
// Parameters are named as in the whole model.
Stage make_stage(const LayerPlan& plan, const StageRange& range);

// A decoder of the GPT-2 or Llama style: vocab-parallel embedding, pre-norm blocks, a final norm, a
// column-parallel head (its own weight, or the embedding's) and the vocab-parallel cross entropy, which never
// gathers the logits.
Stage transformer(const LayerPlan& plan);

}  // namespace tpc
