// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/layers.hpp"

#include <fmt/format.h>

#include "harness/explain/configuration/configuration.hpp"

namespace tpc {

namespace {

std::vector<Operation> layers_of(const Problem& problem) {
  using enum Operation;
  const Operation norm = problem.model.norm == NormKind::layer_norm ? layer_norm : rms_norm;
  if (problem.asks(transformer_layer)) return {norm, attention, mlp};
  if (problem.asks(model))
    return {vocab_embedding, norm, attention, mlp, transformer_layer, vocab_cross_entropy};
  if (problem.asks(train))
    return {vocab_embedding, norm, attention, mlp, transformer_layer, vocab_cross_entropy, model};
  return {};
}

double ignored_share(const Problem& problem) {
  for (const InputSpec& input : problem.inputs)
    if (input.generator.kind == Generator::Kind::targets ||
        input.generator.kind == Generator::Kind::text_targets)
      return input.generator.c;
  return 0;
}

}  // namespace

std::vector<Case> cases_of_layers(const Case& c) {
  std::vector<Case> cases;
  if (!c.request.problem.is_operation() || c.request.mesh.axes != std::vector<std::string>{"tp"})
    return cases;
  for (const Operation layer : layers_of(c.request.problem)) {
    Configuration configuration;
    configuration.problem = c.request.problem;
    configuration.problem.inputs.clear();
    configuration.problem.asked = layer;
    configuration.problem.train = Configuration().problem.train;
    configuration.sharding = c.request.sharding;
    configuration.tier = c.tier;
    configuration.tp = c.request.mesh.ranks();
    configuration.ignored = ignored_share(c.request.problem);
    drop_what_does_not_matter(configuration);
    if (!configuration_defect(configuration).empty()) continue;
    Configuration spelt = configuration_of(to_text(configuration));  // so that its replay is the same
    spelt.problem.seed = c.request.problem.seed;
    cases.push_back(case_of(spelt, fmt::format("layer/{}", name(layer))));
  }
  return cases;
}

}  // namespace tpc
