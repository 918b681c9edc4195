// SPDX-License-Identifier: Apache-2.0
// A training run on a single device.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/baseline/baseline.hpp"

namespace tpc::baseline {

// How parameters follow their gradients; reference/DEFINITIONS.md has the formulas.
struct Training {
  enum class Rule { sgd, adam, adamw };
  Rule rule = Rule::sgd;
  double lr = 1;
  double momentum = 0;  // sgd
  double beta1 = 0.9;   // adam, adamw
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  std::size_t decays_from_dims = 0;   // parameters of fewer dims do not decay
  double max_norm = 0;                // gradients are clipped to this; 0: not at all
  double norm = 2;                    // p of the norm; may be infinite
  std::vector<std::int64_t> reports;  // steps after which the parameters are answered; the last ends the run
};

// ids, targets, dloss and masks of step 0, 1, ...
using Batches = std::function<Inputs(std::int64_t step)>;

// Of Operation::model. Answers: "stepN.<parameter>" for each N of the reports, and over the steps of the run
// "loss" and "gradient_norm", before clipping. The scale of a parameter sums those of its terms: where it
// began and each step's move; after adamw it is lr, the size of a move.
Solution train(const ModelConfig& config, const Inputs& parameters, const Training& training,
               const Batches& batches);

}  // namespace tpc::baseline
