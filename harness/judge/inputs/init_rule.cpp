// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/init_rule.hpp"

#include <cmath>

#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/judge/inputs/rounding.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

bool is_table(const std::string& parameter) {
  return parameter == "embedding.weight" || parameter == "positions.weight";
}

bool ends_on_residual(const std::string& parameter) {
  return parameter.ends_with("attention.out.weight") || parameter.ends_with("mlp.fc2.weight") ||
         parameter.ends_with("mlp.down.weight");
}

double weight_std(const Problem& problem, const InputSlot& slot) {
  const bool by_fan = problem.init.inverse_root_fan_in && !is_table(slot.name);
  const double std = by_fan ? 1 / std::sqrt(static_cast<double>(slot.shape[1])) : problem.init.std;
  const double depth = 1 / std::sqrt(2.0 * static_cast<double>(problem.model.layers));
  return ends_on_residual(slot.name) ? std * depth : std;
}

}  // namespace

std::vector<InitSpec> init_specs(const Problem& problem) {
  using Part = InputSlot::Part;
  Problem model = problem;
  model.asked = Operation::model;
  std::vector<InitSpec> specs;
  for (const InputSlot& slot : input_slots(model)) {
    if (slot.part == Part::weight) specs.push_back({slot.name, slot.shape, 0, weight_std(problem, slot)});
    if (slot.part == Part::bias) specs.push_back({slot.name, slot.shape, 0, 0});
    if (slot.part == Part::gain) specs.push_back({slot.name, slot.shape, 1, 0});
  }
  return specs;
}

std::vector<double> invariant_weights(const Problem& problem, const InitSpec& spec) {
  const std::uint64_t key = invariant_key(problem.seed, "weights/" + spec.parameter);
  std::vector<double> values(static_cast<std::size_t>(element_count(spec.shape)), spec.mean);
  if (spec.std == 0) return values;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = stored_value(spec.mean + spec.std * gaussian(philox(key, i)), problem.dtype);
  return values;
}

std::string repeated_name(const std::string& parameter) { return "repeated." + parameter; }

}  // namespace tpc
