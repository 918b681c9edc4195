// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/baseline_inputs.hpp"

#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"

namespace tpc {

namespace {

bool is_parameter(const InputSpec& input) { return input.name != "dloss" && !is_integral(input.generator); }

}  // namespace

baseline::Inputs baseline_inputs(const Problem& problem) {
  baseline::Inputs inputs;
  for (const InputSpec& input : problem.inputs)
    inputs[input.name] = {input.shape, draw_rounded(problem, input)};
  for (const MaskSpec& mask : masks_of(problem))
    inputs[mask.name] = {mask.shape, invariant_mask(problem.seed, mask, 0)};
  return inputs;
}

baseline::Training training_of(const TrainProblem& t) {
  const auto rule = t.optimizer == TrainProblem::Optimizer::sgd ? baseline::Training::Rule::sgd
                                                                : baseline::Training::Rule::adamw;
  return {.rule = rule,
          .lr = t.lr,
          .momentum = t.momentum,
          .beta1 = t.beta1,
          .beta2 = t.beta2,
          .eps = t.eps,
          .weight_decay = t.weight_decay,
          .max_norm = t.max_norm,
          .norm = t.norm,
          .reports = t.reports};
}

baseline::Inputs parameters_of(const Problem& problem) {
  baseline::Inputs parameters;
  for (const InputSpec& input : problem.inputs)
    if (is_parameter(input)) parameters[input.name] = {input.shape, draw_rounded(problem, input)};
  return parameters;
}

baseline::Inputs batch_of(const Problem& problem, std::int64_t step) {
  baseline::Inputs batch;
  for (const char* name : {"ids", "targets"}) {
    const InputSpec& input = input_named(problem, step_name(step, name));
    batch[name] = {input.shape, draw_rounded(problem, input)};
  }
  batch["dloss"] = {{1}, draw_rounded(problem, input_named(problem, "dloss"))};
  for (const MaskSpec& mask : masks_of(problem))
    batch[mask.name] = {mask.shape, invariant_mask(problem.seed, mask, step)};
  return batch;
}

baseline::Solution solve_training(const Problem& problem, const baseline::Training& training) {
  return baseline::train(problem.model, parameters_of(problem), training,
                         [&](std::int64_t step) { return batch_of(problem, step); });
}

}  // namespace tpc
