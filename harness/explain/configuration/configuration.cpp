// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/configuration/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/explain/configuration/fields.hpp"
#include "harness/explain/configuration/relevance.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/values/join.hpp"
#include "harness/values/parallelism.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {

namespace {

constexpr const char* option_name = "--case";

const Configuration& simplest() {
  static const Configuration configuration;
  return configuration;
}

const Field& field_named(const std::string& key) {
  const auto& fields = configuration_fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
  if (found != fields.end()) return *found;
  std::vector<std::string> keys;
  for (const Field& field : fields) keys.push_back(field.key);
  throw UsageError(
      fmt::format("{}: '{}' is no option of a case; there are {}", option_name, key, either(keys)));
}

// By option: "key=value,..." taken apart.
std::map<std::string, std::string> items_of(std::string_view text) {
  std::map<std::string, std::string> items;
  std::size_t begin = 0;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',', begin);
    more = comma != std::string_view::npos;
    const std::string item(text.substr(begin, comma - begin));
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos)
      throw UsageError(fmt::format("{}: '{}' is not of the form option=value", option_name, item));
    const std::string key = field_named(item.substr(0, equals)).key;
    if (!items.emplace(key, item.substr(equals + 1)).second)
      throw UsageError(fmt::format("{}: {} is given twice", option_name, key));
    begin = comma + 1;
  }
  return items;
}

std::string item_of(const Field& field, const Configuration& configuration) {
  return fmt::format("{}={}", field.key, field.get(configuration));
}

std::string exact_defect(const Configuration& c) {
  const Operation operation = c.problem.operation();
  const LossDefinition& loss = c.problem.model.loss;
  if (relevance::has_attention(c))
    return fmt::format("op={} has no tier=exact of free sizes; the suites choose them", name(operation));
  if (operation == Operation::layer_norm || operation == Operation::rms_norm)
    return c.problem.model.hidden % 2 != 0 ? "the exact rows of a norm need an even hidden size"
           : c.problem.model.norm_eps >= 0x1p-13
               ? "eps must vanish beside the exact rows' mean square of 2^40"
               : "";
  if (operation == Operation::vocab_cross_entropy &&
      (loss.label_smoothing > 0 || loss.z_loss > 0 || loss.mean_over == LossMean::all_tokens))
    return "tier=exact has no smoothing, no z_loss and no mean over all tokens";
  return {};
}

std::string dropout_defect(const Configuration& c) {
  const Randomness& random = c.problem.random;
  if (!relevance::drops(c)) return {};
  if (c.tier == Tier::exact) return "tier=exact has no dropout";
  if (random.profile != "invariant" && c.tier != Tier::f64)
    return fmt::format("dropout with profile={} is judged in tier=f64 alone", random.profile);
  if (random.profile != "invariant" && relevance::is_training(c))
    return "op=train knows dropout with profile=invariant alone";
  return {};
}

}  // namespace

const std::vector<Operation>& configurable_operations() {
  static const std::vector<Operation> operations = {Operation::column_linear,
                                                    Operation::row_linear,
                                                    Operation::mlp,
                                                    Operation::attention,
                                                    Operation::layer_norm,
                                                    Operation::rms_norm,
                                                    Operation::vocab_embedding,
                                                    Operation::vocab_cross_entropy,
                                                    Operation::transformer_layer,
                                                    Operation::model,
                                                    Operation::train};
  return operations;
}

Configuration::Configuration() {
  ModelConfig& model = problem.model;
  model.hidden = model.heads = model.kv_heads = model.head_dim = model.ffn = 1;
  model.vocab = 2;
  model.gelu = GeluForm::erf;
  model.position = PositionKind::none;
  model.causal = model.qkv_bias = model.out_bias = model.mlp_bias = model.tied_head = false;
  problem.train.reports = {1};
  problem.train.eps = 1e-6;  // wide enough for key biases, whose gradients are nothing but rounding
  sharding.fused = false;
}

std::string to_text(const Configuration& configuration) {
  std::vector<std::string> items;
  for (const Field& field : configuration_fields())
    if (items.empty() || (field.matters(configuration) && field.get(configuration) != field.get(simplest())))
      items.push_back(item_of(field, configuration));
  return joined(items, ",");
}

std::vector<std::string> options_that_matter(const Configuration& configuration) {
  std::vector<std::string> items;
  for (const Field& field : configuration_fields())
    if (field.matters(configuration)) items.push_back(item_of(field, configuration));
  return items;
}

Configuration configuration_of(std::string_view text) {
  Configuration configuration;
  const std::map<std::string, std::string> given = items_of(text);
  for (const Field& field : configuration_fields()) {
    const auto item = given.find(field.key);
    if (item != given.end() && !field.set(configuration, item->second))
      throw UsageError(fmt::format("{}: {}={} cannot be: {} is {}", option_name, field.key, item->second,
                                   field.key, field.values));
  }
  for (const auto& [key, value] : given)
    if (!field_named(key).matters(configuration))
      throw UsageError(fmt::format("{}: {} does not matter to '{}'; leave it out", option_name, key, text));
  const std::string defect = configuration_defect(configuration);
  if (!defect.empty()) throw UsageError(fmt::format("{} {}: {}", option_name, text, defect));
  return configuration;
}

std::string configuration_defect(const Configuration& c) {
  const ModelConfig& model = c.problem.model;
  if (c.tier == Tier::statistics) return fmt::format("tier {} compares with no baseline", name(c.tier));
  if (relevance::has_attention(c) && model.heads % model.kv_heads != 0)
    return fmt::format("kv_heads {} do not divide heads {}", model.kv_heads, model.heads);
  if (relevance::is_rotary(c) && model.head_dim % 2 != 0)
    return fmt::format("rotary positions need an even head_dim, not {}", model.head_dim);
  if (relevance::is_training(c) && c.tier != Tier::f64) return "op=train is judged in tier=f64 alone";
  if (relevance::has_blocks(c) && c.tier == Tier::exact)
    return fmt::format("op={} has no tier=exact", name(c.problem.operation()));
  if (c.ignored > 0 && model.loss.ignore_index >= 0 && model.loss.ignore_index < model.vocab)
    return fmt::format("ignore_index {} is a word of the vocabulary", model.loss.ignore_index);
  std::string defect = c.tier == Tier::exact ? exact_defect(c) : "";
  if (defect.empty()) defect = dropout_defect(c);
  if (!defect.empty()) return defect;
  try {
    require_splittable(c.problem.operation(), model, c.sharding, c.problem.sequence, c.tp);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return {};
}

void drop_what_does_not_matter(Configuration& configuration) {
  for (const Field& field : configuration_fields())
    if (!field.matters(configuration)) field.set(configuration, field.get(simplest()));
}

Case case_of(const Configuration& configuration, const std::string& name) {
  Case c;
  c.suite = "random";
  c.name = name;
  c.tier = configuration.tier;
  c.request.problem = configuration.problem;
  c.request.sharding = configuration.sharding;
  c.request.mesh = {{configuration.tp}, {"tp"}};
  IdChoice ids;
  ids.padded_vocab = configuration.sharding.padded_vocab;
  ids.ignored = configuration.ignored;
  c.request.problem.inputs =
      inputs_for(configuration.problem,
                 configuration.tier == Tier::exact ? InputRecipe::exact : InputRecipe::gaussian, ids);
  if (relevance::drops(configuration)) c.profile = configuration.problem.random.profile;
  c.statement = fmt::format("what one device computes: {}", to_text(configuration));
  return c;
}

Configuration described(const Case& c) {
  const Request& request = c.request;
  Configuration configuration;
  configuration.problem = request.problem;
  configuration.problem.inputs.clear();
  configuration.sharding = request.sharding;
  configuration.tier = c.tier;
  configuration.tp = std::max(1, parallelism_of(request.mesh).tp);
  for (const InputSpec& input : request.problem.inputs)
    if (input.generator.kind == Generator::Kind::targets) configuration.ignored = input.generator.c;
  return configuration;
}

std::optional<Configuration> configuration_of(const Case& c) {
  const Request& request = c.request;
  const bool in_tier =
      c.tier == Tier::exact || c.tier == Tier::f64 || c.tier == Tier::f32 || c.tier == Tier::bf16;
  const bool spelt = request.problem.is_operation() && in_tier && !c.account &&
                     c.expectation == Expectation::answers && c.ranks == 0 &&
                     request.mesh.axes == std::vector<std::string>{"tp"} &&
                     request.script == Request{}.script;
  if (!spelt) return std::nullopt;
  Configuration configuration = described(c);
  try {
    drop_what_does_not_matter(configuration);
    Configuration read = configuration_of(to_text(configuration));
    read.problem.seed = request.problem.seed;
    const bool all_said =
        read == configuration && case_of(read, "").request.problem.inputs == request.problem.inputs;
    if (all_said) return read;
  } catch (const std::exception&) {  // an operation or a value that a line does not know
  }
  return std::nullopt;
}

}  // namespace tpc
