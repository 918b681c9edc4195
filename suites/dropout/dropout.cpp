// SPDX-License-Identifier: Apache-2.0
// Claim: with dropout on, every rank draws what it must. Masks are equal where a tensor is replicated over tp
// and independent where it is sharded, forward, backward and recomputation use the same ones, and whatever
// was drawn, what comes out is what one device computes with these masks.
#include <algorithm>

#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

using SP = SequenceParallel;
constexpr const char* profiles[] = {"invariant", "megatron", "dtensor"};
constexpr int degrees[] = {1, 2, 3, 4, 6, 8};

bool asked_for(const SuiteOptions& options, Tier tier, int tp) {
  const bool tier_wanted = !options.tiers_given ||
                           std::find(options.tiers.begin(), options.tiers.end(), tier) != options.tiers.end();
  return tier_wanted && std::find(options.tp.begin(), options.tp.end(), tp) != options.tp.end();
}

std::string suffix_of(SP mode) { return mode == SP::off ? "" : mode == SP::kept ? "_sp" : "_sp_regathered"; }
std::string suffix_of(Recompute recompute) {
  return recompute == Recompute::none ? "" : recompute == Recompute::selective ? "_selective" : "_full";
}

// ---- masks: the implementation's dropout applied to ones

struct MaskCase {
  std::string profile;
  MeshSpec mesh;
  SP mode = SP::off;
  double rate = 0.1;
  DType dtype = DType::f64;
  bool by_data_parallel_rank = false;
  bool large_heads = false;  // attention alone, enough of it to see p^T
  std::string suffix = {};
};

int tp_of(const MeshSpec& mesh) { return mesh.shape.back(); }

// A head a rank, and at least 4096 elements of each mask on each rank: at powers of 2 exactly so many.
Problem masks_problem(const MaskCase& m, std::uint64_t seed) {
  const int tp = tp_of(m.mesh);
  const bool power = (tp & (tp - 1)) == 0;
  Problem problem;
  problem.asked = Operation::dropout;
  problem.model = gpt2_style();
  problem.model.layers = 1;
  problem.model.heads = problem.model.kv_heads = tp;
  problem.model.head_dim = 8;
  problem.sequence = m.large_heads ? 96 : power ? 32 : 24;
  problem.batch = power || m.large_heads ? 4 : 8;
  problem.model.hidden = power ? 32 * tp : 24 * tp;
  problem.model.dropout = {m.rate, m.rate, m.rate};
  if (m.large_heads) problem.model.dropout = {0, m.rate, 0};
  problem.random = {m.profile, true, m.by_data_parallel_rank};
  problem.dtype = m.dtype;
  problem.seed = seed;
  return problem;
}

std::string mesh_name(const MeshSpec& mesh) {
  std::string text;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis)
    text += (text.empty() ? "" : "_") + mesh.axes[axis] + std::to_string(mesh.shape[axis]);
  return text;
}

Case masks_case(const MaskCase& m, std::uint64_t seed) {
  Case c;
  c.suite = "dropout";
  c.name = fmt::format("masks/{}_{}{}{}", m.profile, mesh_name(m.mesh), suffix_of(m.mode), m.suffix);
  c.tier = Tier::statistics;
  c.profile = m.profile;
  c.request.problem = masks_problem(m, seed);
  c.request.sharding.sequence_parallel = m.mode;
  c.request.mesh = m.mesh;
  c.statement = fmt::format(
      "dropout of ones over {}, random streams {}: kept elements are 1/(1-p), backward and recomputation use "
      "the mask of "
      "forward, a restored state goes on as if uninterrupted, and the masks of every pair of ranks are equal "
      "or "
      "independent as the profile has it",
      to_string(m.mesh), m.profile);
  return c;
}

std::vector<MaskCase> mask_cases() {
  std::vector<MaskCase> all;
  const auto over_tp = [](int tp) { return MeshSpec{{tp}, {"tp"}}; };
  const MeshSpec three_axes{{2, 2, 2}, {"pp", "dp", "tp"}};
  for (const char* profile : profiles) {
    for (const int tp : degrees)
      for (const SP mode : {SP::off, SP::kept})
        if (tp > 1 || mode == SP::off) all.push_back({profile, over_tp(tp), mode});
    for (const SP mode : {SP::off, SP::kept}) all.push_back({profile, three_axes, mode});
  }
  all.push_back({"megatron", three_axes, SP::off, 0.1, DType::f64, true, false, "_seeded"});
  for (const int tp : {2, 3, 4, 6, 8})
    all.push_back({"megatron", over_tp(tp), SP::off, 0.5, DType::f64, false, true, "_half"});
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    all.push_back(
        {"invariant", over_tp(2), SP::kept, 0.9, dtype, false, false, "_most_" + std::string(name(dtype))});
  return all;
}

// ---- answers: layers and models with dropout on

struct AnswerCase {
  std::string profile;
  int tp = 1;
  SP mode = SP::off;
  Recompute recompute = Recompute::none;
};

Variant with_dropout(Operation operation, const char* tag, const ModelConfig& config) {
  Variant v;
  v.operation = operation;
  v.tag = tag;
  v.config = config;
  v.config.dropout = {0.1, 0.1, 0.1};
  v.sharding.padded_vocab = 120;
  return v;
}

Case answer_case(const Variant& v, const AnswerCase& a, Tier tier, std::uint64_t seed) {
  Case c;
  c.suite = "dropout";
  c.name = fmt::format("{}/{}_tp{}_{}{}{}", v.tag, a.profile, a.tp, name(tier), suffix_of(a.mode),
                       suffix_of(a.recompute));
  c.tier = tier;
  c.profile = a.profile;
  c.request.problem = problem_of(v, tier, natural_dtype(tier), seed);
  c.request.problem.random.profile = a.profile;
  c.request.sharding = v.sharding;
  c.request.sharding.sequence_parallel = a.mode;
  c.request.sharding.recompute = a.recompute;
  c.request.mesh = {{a.tp}, {"tp"}};
  c.statement = fmt::format(
      "{} with dropout 0.1 on {} ranks: with the masks that the ranks drew (random streams {}), every output "
      "and "
      "gradient is what one device computes ({} tier)",
      name(v.operation), a.tp, a.profile, name(tier));
  return c;
}

constexpr Recompute all_recomputes[] = {Recompute::none, Recompute::selective, Recompute::full};

std::vector<AnswerCase> model_meshes() {
  std::vector<AnswerCase> all;
  for (const char* profile : profiles)
    for (const int tp : degrees)
      for (const SP mode : {SP::off, SP::kept, SP::regathered})
        for (const Recompute recompute : all_recomputes) {
          const bool invariant = std::string_view(profile) == "invariant";
          const bool everywhere = recompute == Recompute::none || invariant || tp == 2 || tp == 8;
          const bool regathered_too =
              mode != SP::regathered || (tp == 8 && recompute != Recompute::selective);
          if (everywhere && regathered_too && (tp > 1 || mode == SP::off))
            all.push_back({profile, tp, mode, recompute});
        }
  return all;
}

// What dropout does to a model does not depend on its width.
ModelConfig narrow(ModelConfig config) {
  config.hidden = 48;
  config.head_dim = 2;
  config.ffn = 96;
  return config;
}

ModelConfig with_shared_kv_heads() {
  ModelConfig config = narrow(llama_style());
  config.kv_heads = 2;
  return config;
}

void add_answers(std::vector<Case>& cases, const SuiteOptions& options, std::uint64_t seed) {
  const auto add = [&](const Variant& v, const AnswerCase& a, Tier tier) {
    if (asked_for(options, tier, a.tp)) cases.push_back(answer_case(v, a, tier, seed));
  };
  const Variant gpt2 = with_dropout(Operation::model, "model_gpt2", narrow(gpt2_style()));
  for (const AnswerCase& a : model_meshes()) add(gpt2, a, Tier::f64);
  const Variant llama = with_dropout(Operation::model, "model_llama", with_shared_kv_heads());
  const Variant block = with_dropout(Operation::transformer_layer, "transformer_layer", gpt2_style());
  for (const int tp : {2, 8}) {
    for (const char* profile : profiles) add(llama, {profile, tp, SP::kept, Recompute::none}, Tier::f64);
    for (const Tier tier : {Tier::f32, Tier::bf16})
      for (const Recompute recompute : {Recompute::none, Recompute::full})
        add(block, {"invariant", tp, SP::kept, recompute}, tier);
  }
}

// Rates alone drop nothing.
void add_evaluations(std::vector<Case>& cases, const SuiteOptions& options, std::uint64_t seed) {
  const Variant gpt2 = with_dropout(Operation::model, "evaluation_gpt2", narrow(gpt2_style()));
  for (const int tp : {1, 3, 8}) {
    if (!asked_for(options, Tier::f64, tp)) continue;
    Case c = answer_case(gpt2, {"invariant", tp, SP::off, Recompute::none}, Tier::f64, seed);
    c.request.problem.random.training = false;
    c.statement = "in evaluation a model with dropout rates drops nothing";
    cases.push_back(std::move(c));
  }
}

}  // namespace

Suite dropout_suite(const SuiteOptions& options) {
  Suite suite{"dropout", {}, {}};
  const std::uint64_t seed = options.seed == 0 ? 1234 : options.seed;  // megatron's must be positive
  for (const MaskCase& m : mask_cases())
    if (asked_for(options, Tier::statistics, tp_of(m.mesh))) suite.cases.push_back(masks_case(m, seed));
  add_answers(suite.cases, options, seed);
  add_evaluations(suite.cases, options, seed);
  return suite;
}

}  // namespace tpc
