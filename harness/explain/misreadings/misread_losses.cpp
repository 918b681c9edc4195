// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_losses.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

using Values = std::vector<double>;

// One token's logits, less the maximum of the shard that each belongs to.
Values less_own_maximum(const double* logits, std::size_t vocab, std::size_t width) {
  Values shifted(logits, logits + vocab);
  for (std::size_t first = 0; first < vocab; first += width) {
    const auto begin = shifted.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = shifted.begin() + static_cast<std::ptrdiff_t>(std::min(first + width, vocab));
    const double maximum = *std::max_element(begin, end);
    std::for_each(begin, end, [maximum](double& x) { x -= maximum; });
  }
  return shifted;
}

}  // namespace

Answers loss_of_own_maxima(const Problem& problem, std::int64_t width) {
  const baseline::Inputs inputs = baseline_inputs(problem);
  const LossDefinition& definition = problem.model.loss;
  const auto vocab = static_cast<std::size_t>(problem.model.vocab);
  const SmoothedTarget share = smoothed_target(definition, problem.model.vocab);
  const baseline::Dense& targets = inputs.at("targets");
  const auto ignored = static_cast<double>(definition.ignore_index);
  const std::size_t tokens = targets.values.size();
  const auto valid =
      tokens - static_cast<std::size_t>(std::count(targets.values.begin(), targets.values.end(), ignored));
  const auto counted = static_cast<double>(definition.mean_over == LossMean::valid_tokens ? valid : tokens);
  Answers answers;
  answers["loss"].value = {{1}, {0}};
  answers["token_loss"].value = {targets.shape, Values(tokens)};
  answers["dlogits"].value = {inputs.at("logits").shape, Values(tokens * vocab)};
  for (std::size_t t = 0; t < tokens; ++t) {
    if (targets.values[t] == ignored) continue;
    const auto target = static_cast<std::size_t>(targets.values[t]);
    const Values shifted =
        less_own_maximum(&inputs.at("logits").values[t * vocab], vocab, static_cast<std::size_t>(width));
    double total = 0;
    double loss = 0;
    for (std::size_t i = 0; i < vocab; ++i) {
      total += std::exp(shifted[i]);
      loss -= (i == target ? share.target : share.other) * shifted[i];
    }
    loss += std::log(total);
    answers["token_loss"].value.values[t] = loss;
    answers["loss"].value.values[0] += loss / counted;
    const double seed = inputs.at("dloss").values[0] / counted;
    for (std::size_t i = 0; i < vocab; ++i)
      answers["dlogits"].value.values[t * vocab + i] =
          seed * (std::exp(shifted[i]) / total - (i == target ? share.target : share.other));
  }
  return answers;
}

std::vector<Misreading> misread_losses(const Request& request) {
  std::vector<Misreading> all;
  const Problem& problem = request.problem;
  const std::int64_t ranks = request.mesh.ranks();
  if (!problem.asks(Operation::vocab_cross_entropy) || ranks == 1 || problem.model.loss.z_loss != 0 ||
      !has_input(problem, "dloss"))
    return all;
  for (const std::int64_t width :
       std::set{(problem.model.vocab + ranks - 1) / ranks,
                std::max(problem.model.vocab, request.sharding.padded_vocab) / ranks}) {
    if (width < 1) continue;
    Misreading misreading;
    misreading.id = "maximum";
    misreading.title =
        "a softmax from which each rank subtracts the maximum of its own logits: it is not reduced over the "
        "ranks";
    misreading.instead = [width](const Problem& p) { return loss_of_own_maxima(p, width); };
    all.push_back(std::move(misreading));
  }
  return all;
}

}  // namespace tpc
