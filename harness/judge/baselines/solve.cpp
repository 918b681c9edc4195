// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/solve.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/baselines/exact_account.hpp"
#include "harness/judge/compare/tiers.hpp"
#include "harness/judge/inputs/init_rule.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/inputs/text.hpp"
#include "reference/comm/local/local.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

using Kind = Generator::Kind;

// How often inputs are moved to estimate e_p. The gradients of a few tokens have few independent roundings:
// two estimates of such a tensor can both be small by luck, eight cannot (seen: a q.weight gradient of twelve
// tokens whose error was eleven times both). Large problems have many, and each round costs a solution.
std::uint64_t perturbations_of(const Problem& problem) {
  std::int64_t elements = 0;
  for (const InputSpec& input : problem.inputs) elements += element_count(input.shape);
  return elements < (1 << 20) ? 8 : 2;
}

double norm_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

// Moves every element by one rounding, up or down.
void perturb(std::vector<double>& values, double u, std::uint64_t key) {
  for (std::size_t i = 0; i < values.size(); i += 128) {
    const PhiloxWords words = philox(key, i / 128);
    const std::size_t end = std::min(values.size(), i + 128);
    for (std::size_t j = i; j < end; ++j) {
      const bool up = ((words[(j - i) / 32] >> ((j - i) % 32)) & 1U) != 0;
      values[j] *= up ? 1 + u : 1 - u;
    }
  }
}

// `round` 0: as the implementation sees them; else moved, each round otherwise. Masks are those of the
// profile `invariant`.
baseline::Inputs inputs_of(const Problem& problem, std::uint64_t round) {
  baseline::Inputs inputs;
  for (const InputSpec& input : problem.inputs) {
    baseline::Dense& dense = inputs[input.name];
    dense = {input.shape, draw_rounded(problem, input)};
    if (round > 0 && !is_integral(input.generator))
      perturb(dense.values, unit_roundoff(problem.dtype), problem.seed ^ hash_name(input.name, round));
  }
  for (const MaskSpec& mask : masks_of(problem))
    inputs[mask.name] = {mask.shape, invariant_mask(problem.seed, mask, 0)};
  return inputs;
}

void own(OwnedTensors& tensors, const std::string& name, Shape shape, std::vector<double> values) {
  OwnedTensor& tensor = tensors[name];
  tensor.values = std::move(values);
  tensor.expected.shape = std::move(shape);
  tensor.expected.values = tensor.values.data();
  tensor.expected.norm = norm_of(tensor.values);
}

OwnedTensors owned(baseline::Solution& solution) {
  OwnedTensors tensors;
  for (auto& [name, answer] : solution.answers) {
    own(tensors, name, std::move(answer.value.shape), std::move(answer.value.values));
    tensors[name].expected.scale_norm = answer.scale_norm;
    tensors[name].expected.scale_max = answer.scale_max;
  }
  return tensors;
}

ExpectedTensors view_of(const OwnedTensors& tensors) {
  ExpectedTensors view;
  for (const auto& [name, tensor] : tensors) view[name] = tensor.expected;
  return view;
}

// e_p: root mean square over the perturbations.
void add_perturbation_errors(const Problem& problem, OwnedTensors& answers) {
  std::map<std::string, double> squares;
  const std::uint64_t perturbations = perturbations_of(problem);
  for (std::uint64_t round = 1; round <= perturbations; ++round) {
    const baseline::Solution moved =
        baseline::solve(problem.operation(), problem.model, inputs_of(problem, round));
    for (const auto& [name, tensor] : answers) {
      const std::vector<double>& values = moved.answers.at(name).value.values;
      TensorError error;
      for (std::size_t i = 0; i < values.size(); ++i)
        error.squares += (values[i] - tensor.values[i]) * (values[i] - tensor.values[i]);
      const double relative = relative_error(tensor.expected, error);
      squares[name] += relative * relative / static_cast<double>(perturbations);
    }
  }
  for (auto& [name, tensor] : answers) tensor.expected.perturbed = std::sqrt(squares.at(name));
}

// e_1. An implementation that does not answer on one rank has none; its cases on one rank tell why.
void add_single_errors(const Case& c, Implementation& implementation, OwnedTensors& answers) {
  Request request = c.request;
  request.mesh = {{1}, {"tp"}};
  request.sharding.sequence_parallel = SequenceParallel::off;
  const Response response = implementation.run(request, make_single_communicator("tp"));
  if (response.status != Response::Status::result) return;
  for (const auto& [name, error] : relative_errors(response.tensors, view_of(answers)))
    answers.at(name).expected.single = error;
}

std::string not_finite(const OwnedTensors& answers) {
  for (const auto& [name, tensor] : answers)
    for (const double value : tensor.values)
      if (!std::isfinite(value)) return fmt::format("the baseline's {} is not finite", name);
  return {};
}

// A run on words promises that they reach the edges of every shard.
std::string uncovered_words(const Problem& problem) {
  const auto named = [&](Kind kind) -> std::string {
    for (const InputSpec& input : problem.inputs)
      if (input.generator.kind == kind) return input.name;
    return {};
  };
  const std::string ids = named(Kind::text_tokens);
  const std::string targets = named(Kind::text_targets);
  return ids.empty() || targets.empty() ? "" : missing_coverage(problem, ids, targets);
}

OwnedTensors initial_parameters(const Problem& problem) {
  OwnedTensors tensors;
  for (const InitSpec& spec : init_specs(problem)) {
    const std::vector<double> values = invariant_weights(problem, spec);
    own(tensors, repeated_name(spec.parameter), spec.shape, values);
    own(tensors, spec.parameter, spec.shape, values);
  }
  return tensors;
}

OwnedTensors trained_parameters(const Problem& problem) {
  baseline::Solution solution = solve_training(problem, training_of(problem.train));
  return owned(solution);
}

// What the implementation hands out of what it drew.
void add_masks(const Problem& problem, const baseline::Inputs& inputs, OwnedTensors& answers) {
  for (const MaskSpec& mask : masks_of(problem))
    own(answers, mask.name, mask.shape, inputs.at(mask.name).values);
}

void solve_operation(const Problem& problem, const BaselineNeeds& needs, Implementation& implementation,
                     SolvedProblem& solved) {
  solved.defect = uncovered_words(problem);
  if (!solved.defect.empty()) return;
  const auto account = needs.account ? baseline::Account::contractions_too : baseline::Account::answers_only;
  const baseline::Inputs inputs = inputs_of(problem, 0);
  baseline::Solution solution = baseline::solve(problem.operation(), problem.model, inputs, account);
  solved.exact_defect = beyond_exact_range(problem.dtype, solution.contractions);
  solved.answers = owned(solution);
  solved.defect = not_finite(solved.answers);
  if (!solved.defect.empty()) return;
  if (needs.rounding != nullptr) add_perturbation_errors(problem, solved.answers);
  add_masks(problem, inputs, solved.answers);
  if (needs.rounding == nullptr) return;
  try {
    add_single_errors(*needs.rounding, implementation, solved.answers);
  } catch (const std::exception&) {
    // As above: no e_1. The case on one rank meets the same exception and reports it.
  }
}

void solve_collective(const Problem& problem, const BaselineNeeds& needs, SolvedProblem& solved) {
  baseline::Solution solution = collective_solution(problem);
  if (needs.account) solved.exact_defect = beyond_exact_range(problem.dtype, collective_account(problem));
  solved.answers = owned(solution);
  // Nothing but sums: a rounding of the inputs is a rounding of the result.
  if (needs.rounding != nullptr)
    for (auto& entry : solved.answers) entry.second.expected.perturbed = unit_roundoff(problem.dtype);
}

}  // namespace

OwnedTensors solve_with_masks(const Problem& problem, const DrawnMasks& masks) {
  baseline::Inputs inputs = inputs_of(problem, 0);
  for (const MaskSpec& mask : masks_of(problem)) inputs.at(mask.name).values = masks.at(mask.name);
  baseline::Solution solution = baseline::solve(problem.operation(), problem.model, inputs);
  OwnedTensors answers = owned(solution);
  add_masks(problem, inputs, answers);
  return answers;
}

SolvedProblem solve_problem(const Problem& problem, const BaselineNeeds& needs,
                            Implementation& implementation) {
  SolvedProblem solved;
  try {
    if (!problem.is_operation())
      solve_collective(problem, needs, solved);
    else if (problem.asks(Operation::init))
      solved.answers = initial_parameters(problem);
    else if (problem.asks(Operation::train))
      solved.answers = trained_parameters(problem);
    else
      solve_operation(problem, needs, implementation, solved);
  } catch (const std::bad_alloc&) {
    solved.defect = fmt::format("no memory for the baseline of {}", name(problem.operation()));
  } catch (const std::exception& error) {
    solved.defect = fmt::format("the baseline cannot be found: {}", error.what());
  }
  if (!solved.defect.empty()) solved.answers.clear();
  return solved;
}

}  // namespace tpc
