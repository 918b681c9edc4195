// SPDX-License-Identifier: Apache-2.0
// Claim: at the width of published models, on the words of a real text, the sharded model still computes what
// one device computes. With --model the run is about that model alone; else it holds one of GPT-2.
#include <algorithm>
#include <numeric>

#include "harness/judge/baselines/store.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/judge/inputs/text.hpp"
#include "harness/values/machine/data_path.hpp"
#include "harness/values/machine/machine.hpp"
#include "reference/tensor_parallel/requirements.hpp"
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

// Megatron-LM pads the vocabulary to a multiple of 128 (GPT-2: 50257 to 50304), and where that does not
// split, to a multiple of 128 times the ranks.
std::int64_t padded_vocab(std::int64_t vocab, int tp) {
  const std::int64_t padded = (vocab + 127) / 128 * 128;
  if (padded % tp == 0) return padded;
  const std::int64_t multiple = 128L * tp;
  return (vocab + multiple - 1) / multiple * multiple;
}

std::string why_not_splittable(const ModelConfig& config, std::int64_t sequence, int tp) {
  Sharding sharding;
  sharding.padded_vocab = padded_vocab(config.vocab, tp);
  try {
    require_splittable(Operation::model, config, sharding, sequence, tp);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return {};
}

// The shards whose first and last rows the text must reach: those of every degree that the model is judged
// at.
int shards_to_cover(const std::vector<int>& degrees) {
  int common = 1;
  for (const int tp : degrees) common = std::lcm(common, tp);
  return common;
}

void draw_ids_from_text(Problem& problem, const std::string& text, int shards) {
  IdChoice ids;
  ids.padded_vocab = padded_vocab(problem.model.vocab, 1);
  ids.shards = shards;
  ids.text = text;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian, ids);
  const std::string missing = missing_coverage(problem, "ids", "targets");
  if (!missing.empty())
    throw UsageError(
        fmt::format("a batch of {} sequences of {} tokens is too small to judge a vocabulary of {}: {}; "
                    "raise --batch or --seq",
                    problem.batch, problem.sequence, problem.model.vocab, missing));
}

void require_memory(const NamedModel& model, const Problem& problem) {
  const std::uint64_t available = available_memory_bytes();
  const std::uint64_t needed = BaselineStore::bytes_needed(problem);
  if (needed <= available) return;
  std::int64_t fitting = 0;
  for (Problem fewer = problem; fitting + 1 < problem.model.layers; ++fitting) {
    fewer.model.layers = fitting + 1;
    if (BaselineStore::bytes_needed(fewer) > available) break;
  }
  const std::string remedy = fitting > 0 ? fmt::format("--layers {} would fit", fitting)
                                         : std::string("not even --layers 1 would fit");
  throw UsageError(
      fmt::format("the single-device baseline of {} with {} layers needs {:.1f} GiB, and {:.1f} GiB are "
                  "available: {}",
                  model.name, problem.model.layers, static_cast<double>(needed) / 0x1p30,
                  static_cast<double>(available) / 0x1p30, remedy));
}

struct Judged {
  NamedModel model;
  std::vector<int> degrees;
  std::vector<Tier> tiers;
  std::int64_t batch;
  std::int64_t sequence;
};

void add_cases(Suite& suite, const Judged& judged, const SuiteOptions& options) {
  Variant v;
  v.operation = Operation::model;
  v.config = judged.model.config;
  v.batch = judged.batch;
  v.sequence = judged.sequence;
  const std::string text = options.text.empty() ? data_path("LICENSE").string() : options.text;
  for (const Tier tier : judged.tiers) {
    Problem problem = problem_of(v, tier, natural_dtype(tier), options.seed);
    draw_ids_from_text(problem, text, shards_to_cover(judged.degrees));
    require_memory(judged.model, problem);
    for (const int tp : judged.degrees)
      for (const SequenceParallel mode : {SequenceParallel::off, SequenceParallel::kept}) {
        if (mode != SequenceParallel::off && (tp == 1 || v.sequence % tp != 0 || !options.model)) continue;
        Case c;
        c.suite = suite.name;
        c.name = fmt::format("{}_{}layers/tp{}_{}{}", judged.model.name, v.config.layers, tp, name(tier),
                             mode == SequenceParallel::off ? "" : "_kept");
        c.tier = tier;
        c.request.problem = problem;
        c.request.sharding.sequence_parallel = mode;
        c.request.sharding.padded_vocab = padded_vocab(v.config.vocab, tp);
        c.request.mesh = {{tp}, {"tp"}};
        c.statement = statement_of(v, mode, tier, tp) + "; tokens are the words of a text";
        suite.cases.push_back(std::move(c));
      }
  }
}

// Degrees that the model splits over. One that does not is a usage error where the user named it.
std::vector<int> splittable_degrees(Suite& suite, const NamedModel& model, std::int64_t sequence,
                                    const SuiteOptions& options) {
  std::vector<int> degrees;
  for (const int tp : options.tp) {
    const std::string reason = why_not_splittable(model.config, sequence, tp);
    if (reason.empty())
      degrees.push_back(tp);
    else if (options.tp_given)
      throw UsageError(fmt::format("{} does not split over tp {}: {}", model.name, tp, reason));
    else
      for (const char* tier : {"f64", "f32", "bf16"})
        suite.impossible.push_back({model.name, "off", tier, tp, reason});
  }
  return degrees;
}

// Names are letters, digits and underscores.
std::string case_word(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

}  // namespace

Suite models_suite(const SuiteOptions& options) {
  Suite suite{"models", {}, {}};
  NamedModel model = options.model ? *options.model : read_model_config(data_path("models/gpt2.json"));
  model.name = case_word(model.name);
  if (options.layers) model.config.layers = *options.layers;
  Judged judged{model, {}, {Tier::f32}, 2, 48};
  if (options.batch > 0) judged.batch = options.batch;
  if (options.sequence > 0) judged.sequence = options.sequence;
  if (options.model) {
    judged.degrees = splittable_degrees(suite, model, judged.sequence, options);
    judged.tiers = {Tier::f64, Tier::f32};
  } else {
    judged.model.config.layers = 1;
    if (std::find(options.tp.begin(), options.tp.end(), 4) != options.tp.end()) judged.degrees = {4};
  }
  if (options.tiers_given) judged.tiers = options.tiers;
  judged.tiers.erase(std::remove(judged.tiers.begin(), judged.tiers.end(), Tier::exact), judged.tiers.end());
  if (!judged.degrees.empty()) add_cases(suite, judged, options);
  return suite;
}

}  // namespace tpc
