// SPDX-License-Identifier: Apache-2.0
// Claim: whatever the configuration, the answer is that of one device. Drawn at random, where the other
// suites choose.
#include "suites/random/random.hpp"

#include "reference/core/philox.hpp"
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t index) : seed_(seed), index_(index) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto span = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(
                     philox(seed_ ^ hash_name("random configuration"), index_, ++throws_)[0] % span);
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

void throw_heads(Dice& dice, ModelConfig& c, int tp) {
  c.heads = tp * dice.between(1, 3);
  std::vector<std::int64_t> kv;
  for (std::int64_t k = 1; k <= c.heads; ++k)
    if (c.heads % k == 0 && (k % tp == 0 || tp % k == 0)) kv.push_back(k);
  c.kv_heads = dice.one_of(kv);
  c.head_dim = dice.one_of<std::int64_t>({2, 4, 6, 8, 16});
  c.qkv_bias = dice.flip();
  c.out_bias = dice.flip();
  c.causal = dice.between(0, 3) > 0;
  if (dice.between(0, 4) == 0) c.attention_scale = 0.375;
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
  if (dice.flip()) c.loss.label_smoothing = 0.1;
  if (dice.flip()) c.loss.smoothing_over = SmoothingOver::other_classes;
  if (dice.between(0, 2) == 0) c.loss.z_loss = 0x1p-10;
  if (dice.flip()) c.loss.mean_over = LossMean::all_tokens;
}

SequenceParallel throw_mode(Dice& dice, Operation operation) {
  if (operation == Operation::vocab_cross_entropy) return SequenceParallel::off;
  return dice.one_of<SequenceParallel>(
      {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered});
}

}  // namespace

RandomConfiguration random_configuration(std::uint64_t seed, std::uint64_t index, int most_ranks,
                                         const std::vector<Tier>& tiers) {
  Dice dice(seed, index);
  Variant v;
  v.operation = static_cast<Operation>(dice.between(0, static_cast<int>(Operation::model)));
  const int tp = dice.one_of(degrees_up_to(most_ranks));
  v.tp = {tp};
  v.modes = {throw_mode(dice, v.operation)};
  v.tiers = {dice.one_of(tiers)};
  ModelConfig& c = v.config;
  throw_heads(dice, c, tp);
  throw_definitions(dice, c);
  c.layers = dice.between(1, 3);
  c.hidden = tp * dice.between(1, 24);
  c.ffn = tp * dice.between(1, 24);
  c.vocab = dice.between(5, 200);
  v.batch = dice.between(1, 3);
  v.sequence = tp * dice.between(1, 6);
  c.positions = v.sequence + dice.between(0, 9);
  const std::int64_t multiple = tp * dice.between(1, 4);
  v.sharding.padded_vocab = (c.vocab + multiple - 1) / multiple * multiple;
  v.sharding.fused = dice.flip();
  v.sharding.gather_output = dice.flip();
  v.sharding.input_is_split = dice.flip();
  v.tag = fmt::format("n{}_{}", index, name(v.operation));
  return {v, v.tag};
}

Suite random_suite(const SuiteOptions& options) {
  Suite suite{"random", {}, {}};
  const std::vector<Tier> tiers =
      options.tiers_given ? options.tiers : std::vector<Tier>{Tier::f64, Tier::f32, Tier::bf16};
  for (int i = 0; i < options.random; ++i) {
    const RandomConfiguration drawn =
        random_configuration(options.seed, static_cast<std::uint64_t>(i), options.world, tiers);
    for (Case& c : layer_cases(suite.name, {drawn.variant}, drawn.variant.modes, options))
      suite.cases.push_back(std::move(c));
  }
  return suite;
}

}  // namespace tpc
