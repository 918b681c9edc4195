// SPDX-License-Identifier: Apache-2.0
// The parts of a problem that are about random numbers and training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/core/words.hpp"

namespace tpc {

// Where random numbers come from. Answers may depend on the mesh through the profile alone.
struct Randomness {
  std::string profile = "invariant";  // of random/random_streams.hpp; any other: the implementation's own way
  bool training = true;               // else nothing is dropped
  bool seed_by_data_parallel_rank = false;
  bool operator==(const Randomness&) const = default;
};

// Operation init: the parameters by their canonical names, and by "repeated.<name>" those of a second
// initialisation right after the first.
struct InitProblem {
  bool inverse_root_fan_in = false;  // std of linears from their whole weight; else `std` for all
  double std = 0.02;
  bool operator==(const InitProblem&) const = default;
};

// Operation train: each step has a batch of its own, inputs "stepN.ids" and "stepN.targets" from N = 0.
// Answers as in baseline/train.hpp: "stepN.<parameter>" after N = 1, 2, ... steps where reported, and "loss",
// "gradient_norm" [steps].
struct TrainProblem {
  enum class Optimizer { sgd, adamw } optimizer = Optimizer::sgd;
  double lr = 1;
  double momentum = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double max_norm = 0;                // 0: gradients are not clipped
  double norm = 2;                    // p of the gradient norm; may be infinite
  std::vector<std::int64_t> reports;  // ascending; the last is the number of steps
  bool token_losses = false;          // also "stepN.token_loss" [S,B] of step N, which no baseline answers
  std::int64_t steps() const { return reports.empty() ? 0 : reports.back(); }
  bool operator==(const TrainProblem&) const = default;
};
constexpr auto words(TrainProblem::Optimizer) { return spelling("sgd", "adamw"); }

inline std::string step_name(std::int64_t step, const std::string& name) {
  return "step" + std::to_string(step) + "." + name;
}

}  // namespace tpc
