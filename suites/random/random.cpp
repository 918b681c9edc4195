// SPDX-License-Identifier: Apache-2.0
// Claim: whatever the configuration, the answer is that of one device. Drawn at random, where the other
// suites choose.
#include "suites/random/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/explain/configuration/relevance.hpp"
#include "reference/core/philox.hpp"
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index, std::string_view what = "random configuration")
      : seed_(seed ^ hash_name(what)), index_(index) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(philox(seed_, index_, ++throws_)[0] % span);
  }
  bool flip() { return between(0, 1) == 1; }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list.at(static_cast<std::size_t>(between(0, static_cast<std::int64_t>(list.size()) - 1)));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t index_;
  std::uint64_t throws_ = 0;
};

std::vector<int> degrees_up_to(int most) {
  std::vector<int> degrees;
  for (const int tp : {1, 2, 3, 4, 6, 8})
    if (tp <= most) degrees.push_back(tp);
  return degrees;
}

// Multiples of tp where a shard is cut, anything where nothing is; now and then nothing but one each.
std::int64_t throw_size(Dice& dice, std::int64_t most, int multiple) {
  return multiple * dice.between(1, dice.between(0, 3) == 0 ? 1 : most);
}

void throw_heads(Dice& dice, ModelConfig& c, int tp) {
  c.heads = tp * dice.between(1, 3);
  std::vector<std::int64_t> kv;
  for (std::int64_t k = 1; k <= c.heads; ++k)
    if (c.heads % k == 0 && (k % tp == 0 || tp % k == 0)) kv.push_back(k);
  c.kv_heads = dice.one_of(kv);
  c.head_dim = dice.one_of<std::int64_t>({1, 2, 3, 4, 6, 8, 16});
  c.qkv_bias = dice.flip();
  c.out_bias = dice.flip();
  c.causal = dice.between(0, 3) > 0;
  if (dice.between(0, 4) == 0) c.attention_scale = 0.375;
}

void throw_loss(Dice& dice, Configuration& configuration) {
  LossDefinition& loss = configuration.problem.model.loss;
  if (dice.flip()) loss.label_smoothing = 0.1;
  if (dice.flip()) loss.smoothing_over = SmoothingOver::other_classes;
  if (dice.between(0, 2) == 0) loss.z_loss = 0x1p-10;
  if (dice.flip()) loss.mean_over = LossMean::all_tokens;
  if (dice.between(0, 2) > 0) configuration.ignored = dice.one_of<double>({0.15, 0.5});
  if (dice.flip()) loss.ignore_index = -1;
}

void throw_definitions(Dice& dice, ModelConfig& c) {
  c.norm = dice.flip() ? NormKind::layer_norm : NormKind::rms_norm;
  c.norm_eps = dice.one_of<double>({1e-6, 1e-5, 1e-3});
  c.mlp = dice.flip() ? MlpKind::gelu : MlpKind::swiglu;
  c.gelu = dice.flip() ? GeluForm::erf : GeluForm::tanh;
  c.mlp_bias = dice.flip();
  c.position = dice.one_of<PositionKind>({PositionKind::none, PositionKind::learned, PositionKind::rotary});
  c.rotary = dice.flip() ? RotaryForm::halves : RotaryForm::interleaved;
  c.rotary_theta = dice.one_of<double>({100, 10000, 500000});
  if (dice.between(0, 3) == 0) c.rotary_scaling = RotaryScaling{8, 1, 4, 64};
  c.tied_head = dice.flip();
}

void throw_sizes(Dice& dice, Configuration& c) {
  ModelConfig& model = c.problem.model;
  // Only what is cut must be divisible; odd sizes are as good where nothing is.
  const bool hidden_is_cut = relevance::has_attention(c) || c.problem.asks(Operation::mlp);
  const bool tokens_are_cut = c.sharding.sequence_parallel != SequenceParallel::off;
  model.layers = dice.between(1, 3);
  model.hidden = throw_size(dice, 24, hidden_is_cut ? c.tp : 1);
  model.ffn = throw_size(dice, 24, c.tp);
  model.vocab = dice.between(3, 200);
  c.problem.batch = dice.between(1, 3);
  c.problem.sequence = throw_size(dice, 6, tokens_are_cut ? c.tp : 1);
  model.positions = c.problem.sequence + dice.between(0, 9);
  const std::int64_t multiple = c.tp * dice.between(1, 4);
  c.sharding.padded_vocab = (model.vocab + multiple - 1) / multiple * multiple;
  if (model.vocab % c.tp == 0 && dice.flip()) c.sharding.padded_vocab = 0;
}

void throw_cut(Dice& dice, Configuration& c) {
  if (!c.problem.asks(Operation::vocab_cross_entropy))
    c.sharding.sequence_parallel = dice.one_of<SequenceParallel>(
        {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered});
  c.sharding.fused = dice.flip();
  c.sharding.gather_output = dice.flip();
  c.sharding.input_is_split = dice.flip();
  c.sharding.recompute = dice.one_of<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
  const bool one_by_one = c.sharding.sequence_parallel == SequenceParallel::off && !c.sharding.fused;
  c.sharding.own_entries = one_by_one && dice.flip();
  const bool gelu = c.problem.model.mlp == MlpKind::gelu;
  if (one_by_one && gelu && !c.sharding.own_entries && dice.between(0, 2) == 0)
    c.sharding.mlp_order = MlpOrder::row_first;
}

void throw_randomness(Dice& dice, Configuration& c) {
  if (dice.between(0, 2) > 0) return;
  const auto rate = [&dice] { return dice.one_of<double>({0, 0.1, 0.25, 0.5}); };
  c.problem.model.dropout = {rate(), rate(), rate()};
  c.problem.random.training = dice.between(0, 4) > 0;
  c.problem.random.profile = dice.one_of<std::string>({"invariant", "megatron", "dtensor"});
}

void throw_training(Dice& dice, TrainProblem& train) {
  train.reports = {dice.between(1, 3)};
  train.optimizer = dice.flip() ? TrainProblem::Optimizer::sgd : TrainProblem::Optimizer::adamw;
  train.lr = train.optimizer == TrainProblem::Optimizer::sgd ? 0.5 : 1.0 / 256;
  if (dice.flip()) train.max_norm = 0.25;
  train.norm = dice.one_of<double>({1, 2, 3, std::numeric_limits<double>::infinity()});
}

Configuration throw_configuration(Dice& dice, int most_ranks, const std::vector<Tier>& tiers) {
  Configuration c;
  c.problem.asked = dice.one_of(configurable_operations());
  c.tp = dice.one_of(degrees_up_to(most_ranks));
  c.tier = dice.one_of(tiers);
  c.problem.dtype = c.tier == Tier::exact ? dice.one_of<DType>({DType::f64, DType::f32, DType::bf16})
                                          : natural_dtype(c.tier);
  throw_definitions(dice, c.problem.model);
  throw_loss(dice, c);
  throw_heads(dice, c.problem.model, c.tp);
  throw_cut(dice, c);
  throw_sizes(dice, c);
  throw_randomness(dice, c);
  throw_training(dice, c.problem.train);
  drop_what_does_not_matter(c);
  return c;
}

// Options that came after seeds were published have dice of their own, so that a seed still draws what it
// drew before, and more.
Configuration with_later_options(Configuration c, Dice dice) {
  if (dice.between(0, 2) == 0) c.sharding.overlap_chunks = static_cast<int>(dice.between(2, 4));
  drop_what_does_not_matter(c);
  return c;
}

std::string case_name(const Configuration& c, int index) {
  std::string text = fmt::format("n{}_{}/tp{}_{}", index, name(c.problem.operation()), c.tp, name(c.tier));
  if (c.sharding.sequence_parallel != SequenceParallel::off)
    text += fmt::format("_{}", name(c.sharding.sequence_parallel));
  return text;
}

}  // namespace

Configuration random_configuration(std::uint64_t seed, std::uint64_t index, int most_ranks,
                                   const std::vector<Tier>& tiers) {
  Dice dice(seed, index);
  constexpr int most_throws = 1000;  // far more than it takes
  for (int i = 0; i < most_throws; ++i) {
    Configuration c = throw_configuration(dice, most_ranks, tiers);
    c.problem.seed = seed;
    if (!configuration_defect(c).empty()) continue;
    const Configuration more = with_later_options(c, Dice(seed, index, "later options"));
    return configuration_defect(more).empty() ? more : c;
  }
  throw UsageError(
      fmt::format("no operation has any of the tiers asked for; choose from exact, f64, f32, bf16"));
}

Suite random_suite(const SuiteOptions& options) {
  Suite suite{"random", {}, {}};
  const std::uint64_t seed = options.seed == 0 ? 1234 : options.seed;  // megatron's must be positive
  if (!options.configuration.empty()) {
    Configuration c = configuration_of(options.configuration);
    c.problem.seed = seed;
    suite.cases.push_back(case_of(c, fmt::format("case/{}", name(c.problem.operation()))));
    return suite;
  }
  std::vector<Tier> tiers = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16};
  if (options.tiers_given) tiers = options.tiers;
  std::erase_if(tiers, [](Tier tier) { return tier == Tier::statistics; });
  if (tiers.empty()) throw UsageError("--random draws in the tiers exact, f64, f32 and bf16 alone");
  const int most = std::min(options.world, *std::max_element(options.tp.begin(), options.tp.end()));
  for (int i = 0; i < options.random; ++i) {
    const Configuration c = random_configuration(seed, static_cast<std::uint64_t>(i), most, tiers);
    suite.cases.push_back(case_of(c, case_name(c, i)));
  }
  return suite;
}

}  // namespace tpc
