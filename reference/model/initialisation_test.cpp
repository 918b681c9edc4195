// SPDX-License-Identifier: Apache-2.0
#include "reference/model/initialisation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "reference/comm/local/local.hpp"
#include "reference/model/stage.hpp"

namespace tpc {
namespace {

ModelConfig small_model() {
  ModelConfig config;
  config.layers = 2;
  config.hidden = 24;
  config.heads = 24;
  config.kv_heads = 24;
  config.head_dim = 1;
  config.ffn = 48;
  config.vocab = 22;
  config.positions = 5;
  return config;
}

ModelConfig llama_model(std::int64_t kv_heads) {
  ModelConfig config = small_model();
  config.head_dim = 4;
  config.kv_heads = kv_heads;
  config.norm = NormKind::rms_norm;
  config.mlp = MlpKind::swiglu;
  config.position = PositionKind::rotary;
  config.qkv_bias = config.out_bias = config.mlp_bias = false;
  config.tied_head = false;
  return config;
}

// Canonical tensors assembled from what the ranks hold; NaN where nobody holds anything.
using Weights = std::map<std::string, std::vector<double>>;

struct Assembly {
  Weights weights;
  bool copies_agree = true;
  bool padding_is_zero = true;
};

void assemble(Assembly& assembly, const ParameterSpec& spec, const Tensor& local) {
  std::vector<bool> placed(static_cast<std::size_t>(local.count()));
  for (const ParameterPart& part : spec.parts) {
    const Shape& global = part.placement.global_shape;
    auto& whole = assembly.weights[part.canonical];
    whole.resize(static_cast<std::size_t>(element_count(global)), std::nan(""));
    const std::int64_t columns = global.size() > 1 ? global[1] : 1;
    const std::int64_t local_columns = spec.shape.size() > 1 ? spec.shape[1] : 1;
    for (const Block& block : part.placement.blocks)
      for (std::int64_t i = 0; i < block.extent[0]; ++i)
        for (std::int64_t j = 0; j < (global.size() > 1 ? block.extent[1] : 1); ++j) {
          const std::int64_t column = global.size() > 1 ? block.global_offset[1] + j : 0;
          const std::int64_t from = (block.local_offset[0] + i) * local_columns + j;
          double& to = whole[static_cast<std::size_t>((block.global_offset[0] + i) * columns + column)];
          const double value = local.data<double>()[from];
          if (!std::isnan(to) && to != value) assembly.copies_agree = false;
          to = value;
          placed[static_cast<std::size_t>(from)] = true;
        }
  }
  for (std::int64_t i = 0; i < local.count(); ++i)
    if (!placed[static_cast<std::size_t>(i)] && local.data<double>()[i] != 0)
      assembly.padding_is_zero = false;
}

struct Setting {
  ModelConfig config;
  Sharding sharding;
  std::string profile;
  InitOptions options;
};

Assembly initialised(const Setting& setting, int ranks, std::vector<StreamState>* states = nullptr) {
  Assembly assembly;
  std::mutex mutex;
  if (states != nullptr) states->resize(static_cast<std::size_t>(ranks));
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{ranks}, {"tp"}});
    const auto compute = make_host_compute();
    const auto streams = make_random_streams(setting.profile, stream_setup(1234, mesh));
    const LayerPlan plan{setting.config, setting.sharding, mesh.position(), *right_parts()};
    const std::vector<ParameterSpec> specs = transformer(plan).parameters();
    const Parameters params =
        initialise(*compute, *streams, specs,
                   initialisation_rules(Operation::model, setting.config, setting.options), DType::f64, plan);
    const std::lock_guard lock(mutex);
    for (const ParameterSpec& spec : specs) assemble(assembly, spec, params.at(spec.name));
    if (states != nullptr) (*states)[static_cast<std::size_t>(world->rank())] = streams->state();
  });
  return assembly;
}

double std_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(Rules, NameEveryParameterOfTheModelWithItsShape) {
  for (const ModelConfig& config : {small_model(), llama_model(6)}) {
    const std::vector<InitRule> rules = initialisation_rules(Operation::model, config);
    const Stage model = transformer({config, {}, {}, *right_parts()});
    std::map<std::string, Shape> shapes;
    for (const ParameterSpec& spec : model.parameters())
      for (const ParameterPart& part : spec.parts) shapes[part.canonical] = part.placement.global_shape;
    EXPECT_EQ(rules.size(), shapes.size());
    for (const InitRule& rule : rules) EXPECT_EQ(shapes.at(rule.parameter), rule.shape) << rule.parameter;
  }
}

TEST(Rules, StdOfFullFanAndDepth) {
  const auto std_by_name = [](const ModelConfig& config, WeightScale scale) {
    std::map<std::string, double> stds;
    for (const InitRule& rule : initialisation_rules(Operation::model, config, {scale, 0.02}))
      stds[rule.parameter] = rule.std;
    return stds;
  };
  const auto fixed = std_by_name(small_model(), WeightScale::fixed);
  EXPECT_EQ(fixed.at("embedding.weight"), 0.02);
  EXPECT_EQ(fixed.at("blocks.1.attention.q.weight"), 0.02);
  EXPECT_EQ(fixed.at("blocks.1.attention.out.weight"), 0.01);  // 2·L = 4
  EXPECT_EQ(fixed.at("blocks.0.mlp.fc2.weight"), 0.01);
  EXPECT_EQ(fixed.at("blocks.0.norm1.gain"), 0);
  const auto fan = std_by_name(llama_model(6), WeightScale::inverse_root_fan_in);
  EXPECT_DOUBLE_EQ(fan.at("blocks.0.mlp.gate.weight"), 1 / std::sqrt(24.0));
  EXPECT_DOUBLE_EQ(fan.at("blocks.0.mlp.down.weight"), 1 / std::sqrt(48.0) / 2);
  EXPECT_DOUBLE_EQ(fan.at("blocks.0.attention.out.weight"), 1 / std::sqrt(96.0) / 2);
  EXPECT_DOUBLE_EQ(fan.at("head.weight"), 1 / std::sqrt(24.0));
  EXPECT_EQ(fan.at("embedding.weight"), 0.02);
}

TEST(Rules, ServeSingleOperations) {
  const auto names = [](Operation operation) {
    std::vector<std::string> all;
    for (const InitRule& rule : initialisation_rules(operation, small_model())) all.push_back(rule.parameter);
    return all;
  };
  EXPECT_EQ(names(Operation::row_linear), (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(names(Operation::layer_norm), (std::vector<std::string>{"gain", "bias"}));
  EXPECT_EQ(names(Operation::rms_norm), (std::vector<std::string>{"gain"}));
  EXPECT_EQ(names(Operation::vocab_embedding), (std::vector<std::string>{"weight", "positions.weight"}));
  EXPECT_EQ(names(Operation::mlp).front(), "fc1.weight");
  EXPECT_EQ(names(Operation::transformer_layer).size(), 16U);
  EXPECT_TRUE(names(Operation::vocab_cross_entropy).empty());
}

TEST(Invariant, ShardsAreThoseOfOneTensor) {
  const Sharding padded{.padded_vocab = 48};
  for (const ModelConfig& config : {small_model(), llama_model(24), llama_model(2)}) {
    const Assembly whole = initialised({config, {}, "invariant", {}}, 1);
    for (const int ranks : {2, 3, 4, 6, 8}) {
      if (config.kv_heads % ranks != 0 && ranks % config.kv_heads != 0) continue;
      for (const bool fused : {true, false}) {
        Sharding sharding = padded;
        sharding.fused = fused;
        const Assembly shards = initialised({config, sharding, "invariant", {}}, ranks);
        EXPECT_TRUE(shards.weights == whole.weights) << ranks << " ranks, fused " << fused;
        EXPECT_TRUE(shards.copies_agree && shards.padding_is_zero) << ranks << " ranks";
      }
    }
  }
}

TEST(EveryProfile, ReplicatesAgreeShardsDifferAndLayersDiffer) {
  for (const std::string_view profile : random_profiles())
    for (const std::int64_t kv_heads : {24, 2}) {
      const Sharding sharding{.sequence_parallel = SequenceParallel::kept, .padded_vocab = 32};
      std::vector<StreamState> states;
      Setting setting{llama_model(kv_heads), sharding, std::string(profile), {}};
      if (kv_heads == 24) setting.config = small_model();
      const Assembly assembly = initialised(setting, 4, &states);
      EXPECT_TRUE(assembly.copies_agree) << profile << ", " << kv_heads << " kv heads";
      EXPECT_TRUE(assembly.padding_is_zero) << profile;
      const auto& k = assembly.weights.at("blocks.0.attention.k.weight");
      EXPECT_NE(k, assembly.weights.at("blocks.1.attention.k.weight")) << profile;
      const auto half = static_cast<std::ptrdiff_t>(k.size() / 2);
      EXPECT_NE(std::vector<double>(k.begin(), k.begin() + half),
                std::vector<double>(k.begin() + half, k.end()))
          << profile;
      for (std::size_t r = 1; r < states.size(); ++r)
        for (std::size_t i = 0; i < states[r].size(); ++i)
          EXPECT_EQ(states[r][i].position, states[0][i].position) << profile << " " << states[r][i].name;
    }
}

TEST(EveryProfile, StdDoesNotDependOnTheMesh) {
  for (const std::string_view profile : random_profiles())
    for (const int ranks : {1, 4, 8}) {
      Setting setting{small_model(), {.padded_vocab = 24}, std::string(profile), {}};
      setting.options.scale = WeightScale::inverse_root_fan_in;
      const Assembly assembly = initialised(setting, ranks);
      for (const InitRule& rule : initialisation_rules(Operation::model, setting.config, setting.options)) {
        const auto& values = assembly.weights.at(rule.parameter);
        if (rule.std == 0) {
          for (const double value : values) EXPECT_EQ(value, rule.mean) << rule.parameter;
        } else {
          const double sigma = rule.std / std::sqrt(2.0 * static_cast<double>(values.size()));
          EXPECT_NEAR(std_of(values), rule.std, 6 * sigma) << profile << " " << rule.parameter;
        }
      }
    }
}

// Column weights at T = 1 come from the model-parallel stream too, as in Megatron: what decides is the layer.
TEST(Megatron, ShardedParametersUseTheirOwnStreamAtAnySize) {
  std::vector<StreamState> states;
  const ModelConfig config = small_model();
  initialised({config, {}, "megatron", {}}, 1, &states);
  EXPECT_EQ(states[0][0].position, static_cast<std::uint64_t>(config.positions * config.hidden));
  EXPECT_GT(states[0][2].position, 0U);
}

TEST(Initialise, ShapeOnlyMovesTheStreamsAlike) {
  const auto compute = make_shape_only_compute();
  const auto host = make_host_compute();
  const ModelConfig config = small_model();
  const Sharding sharding;
  const LayerPlan plan{config, sharding, Position::on_tp(1, 2), *right_parts()};
  const Stage model = transformer(plan);
  const auto rules = initialisation_rules(Operation::model, config);
  StreamState states[2];
  for (int i = 0; i < 2; ++i) {
    const auto streams = make_random_streams("megatron", {.tp = 1});
    initialise(i == 0 ? *compute : *host, *streams, model.parameters(), rules, DType::f32, plan);
    states[i] = streams->state();
  }
  EXPECT_EQ(states[0], states[1]);
}

}  // namespace
}  // namespace tpc
