// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "reference/model/stage.hpp"
#include "reference/optimizer/optimizer.hpp"

namespace tpc {

// What one forward and backward of a step is about.
struct Microbatch {
  Tensor ids;        // [S,B], the same on every rank of tp
  Tensor targets;    // [S,B]
  double share = 1;  // of its mean loss in that of the step
};

// Means over unequally many tokens: each microbatch's share is its part of the tokens that count. `targets`
// are on the host. Where nothing counts all shares are 0.
std::vector<double> loss_shares(const std::vector<Tensor>& targets, const LossDefinition& definition);

struct TrainOptions {
  double norm = 2;                                    // p of the gradient's norm
  double max_norm = 0;                                // clipped to it where positive
  std::optional<DType> gradient_sums = std::nullopt;  // see Gradients
};

struct StepResult {
  std::vector<Stage::Result> losses;  // of each microbatch: y is its mean
  double gradient_norm = 0;           // before clipping
};

// Forward and backward of each microbatch in turn: the schedule of a model that is one stage.
std::vector<Stage::Result> accumulate(Context& ctx, const Stage& model, ParameterSource& params,
                                      const std::vector<Microbatch>& microbatches, const Tensor& dloss,
                                      Gradients& gradients);

// One step of training: the sum of the microbatches' gradients, its finalisation,
// the norm of the gradients, and clipping by it; the optimizer. `model` is a whole one, `dloss` [1] the
// upstream gradient of the step's loss. Collective over the mesh.
StepResult train_step(Context& ctx, const Stage& model, HeldParameters& params, Optimizer& optimizer,
                      const std::vector<Microbatch>& microbatches, const Tensor& dloss,
                      const TrainOptions& options);

}  // namespace tpc
