// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_training.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tpc {

namespace {

using baseline::Training;

Misreading trained_by(const std::string& id, const std::string& title,
                      std::function<void(Training&)> training) {
  Misreading misreading;
  misreading.id = id;
  misreading.title = title;
  misreading.training = std::move(training);
  return misreading;
}

std::string norm_name(double p) { return std::isinf(p) ? "largest element" : fmt::format("{:g}-norm", p); }

void add_clipping(const TrainProblem& train, std::vector<Misreading>& all) {
  if (train.max_norm <= 0) return;
  all.push_back(
      trained_by("clipping", "gradients that are not clipped", [](Training& t) { t.max_norm = 0; }));
  for (const double p : {1.0, 2.0, std::numeric_limits<double>::infinity()})
    if (p != train.norm)
      all.push_back(trained_by("norm",
                               fmt::format("gradients clipped by their {} where the {} is asked",
                                           norm_name(p), norm_name(train.norm)),
                               [p](Training& t) { t.norm = p; }));
}

void add_adam(const TrainProblem& train, std::vector<Misreading>& all) {
  if (train.weight_decay != 0) {
    all.push_back(trained_by("decay", "weight decay that is part of the gradient: Adam where AdamW is asked",
                             [](Training& t) { t.rule = Training::Rule::adam; }));
    all.push_back(trained_by("decay", "weight decay of matrices alone, not of biases and gains",
                             [](Training& t) { t.decays_from_dims = 2; }));
    all.push_back(trained_by("decay", "no weight decay", [](Training& t) { t.weight_decay = 0; }));
  }
  for (const double eps : {1e-8, 1e-6, 1e-5})
    if (eps != train.eps)
      all.push_back(trained_by("eps", fmt::format("Adam's eps {:g} where {:g} is asked", eps, train.eps),
                               [eps](Training& t) { t.eps = eps; }));
  if (train.beta1 != train.beta2)
    all.push_back(trained_by("betas", "Adam's betas in each other's place",
                             [](Training& t) { std::swap(t.beta1, t.beta2); }));
}

}  // namespace

std::vector<Misreading> misread_training(const TrainProblem& train) {
  std::vector<Misreading> all;
  add_clipping(train, all);
  if (train.optimizer == TrainProblem::Optimizer::adamw) add_adam(train, all);
  if (train.momentum != 0)
    all.push_back(trained_by("momentum", "no momentum", [](Training& t) { t.momentum = 0; }));
  return all;
}

}  // namespace tpc
