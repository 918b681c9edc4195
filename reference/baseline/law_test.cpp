// SPDX-License-Identifier: Apache-2.0
// What must hold whatever the formulas' details.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "reference/baseline/rotary.hpp"
#include "reference/baseline/sample.hpp"

namespace tpc::baseline {
namespace {

Sample sample_named(const std::string& name) {
  for (const Sample& sample : samples())
    if (sample.name == name) return sample;
  throw std::out_of_range(name);
}

Solution solved(const Sample& sample, const Inputs& inputs) {
  return solve(sample.operation, sample.config, inputs);
}

std::vector<double> values(const Solution& solution, const std::string& name) {
  return solution.answers.at(name).value.values;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

// Tokens of y [S, B, H] that moved when something else moved.
std::vector<bool> moved_tokens(const Sample& sample, const Inputs& before, const Inputs& after) {
  const auto a = values(solved(sample, before), "y");
  const auto b = values(solved(sample, after), "y");
  std::vector<bool> moved(sample.sequence * sample.batch);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) moved[i / sample.config.hidden] = true;
  return moved;
}

Inputs with_token_moved(const Sample& sample, Inputs inputs, std::int64_t position, std::int64_t entry) {
  auto& x = inputs.at("x").values;
  for (std::int64_t h = 0; h < sample.config.hidden; ++h)
    x[(position * sample.batch + entry) * sample.config.hidden + h] += 0.25 * static_cast<double>(h + 1);
  return inputs;
}

TEST(Mlp, TreatsEachTokenByItself) {
  for (const char* name : {"mlp_gelu_tanh", "mlp_swiglu"}) {
    const Sample sample = sample_named(name);
    const Inputs inputs = sample_inputs(sample);
    const auto moved = moved_tokens(sample, inputs, with_token_moved(sample, inputs, 1, 1));
    EXPECT_EQ(moved, (std::vector<bool>{false, false, false, true, false, false})) << name;
  }
}

TEST(Attention, SeesOnlyItsPastWhereCausal) {
  for (const char* name : {"attention_mha", "attention_gqa_halves", "block_gpt2", "block_llama"}) {
    const Sample sample = sample_named(name);
    const Inputs inputs = sample_inputs(sample);
    const auto moved = moved_tokens(sample, inputs, with_token_moved(sample, inputs, 1, 0));
    EXPECT_EQ(moved, (std::vector<bool>{false, false, true, false, true, false})) << name;
  }
}

TEST(Attention, SeesTheWholeSequenceWhereNotCausal) {
  const Sample sample = sample_named("attention_not_causal");
  const Inputs inputs = sample_inputs(sample);
  const auto moved = moved_tokens(sample, inputs, with_token_moved(sample, inputs, 1, 0));
  EXPECT_EQ(moved, (std::vector<bool>{true, false, true, false, true, false}));
}

// The key bias adds the same number to all scores of a row, of which softmax takes no notice.
TEST(Attention, IgnoresAShiftOfTheScores) {
  const Sample sample = sample_named("attention_mha");
  Inputs inputs = sample_inputs(sample);
  const Solution before = solved(sample, inputs);
  for (double& value : inputs.at("k.bias").values) value += 1.5;
  const Solution after = solved(sample, inputs);
  expect_near(values(after, "y"), values(before, "y"), 1e-13);
  const Answer& gradient = after.answers.at("grad.k.bias");
  expect_near(gradient.value.values, std::vector<double>(gradient.value.values.size()), 1e-14);
  EXPECT_GT(gradient.scale_max, 0.01);
}

TEST(Attention, OfOneKeyIsThatKeysValue) {
  Sample sample = sample_named("attention_one_token");
  Inputs inputs = sample_inputs(sample);
  const Solution before = solved(sample, inputs);
  for (double& value : inputs.at("q.weight").values) value = -value;
  expect_near(values(solved(sample, inputs), "y"), values(before, "y"), 0);
  for (const double value : values(before, "grad.q.weight")) EXPECT_EQ(value, 0);
}

// Grouped heads are full heads whose kv rows are repeated; the gradient of a shared row is the sum over its
// copies.
TEST(Attention, GroupedEqualsFullWithRepeatedRows) {
  const Sample grouped = sample_named("attention_gqa_halves");
  const Inputs inputs = sample_inputs(grouped);
  const ModelConfig& config = grouped.config;
  const std::int64_t copies = config.heads / config.kv_heads;
  const std::int64_t row = config.head_dim * config.hidden;  // of one head
  Sample full = grouped;
  full.config.kv_heads = config.heads;
  Inputs repeated = inputs;
  for (const char* name : {"k.weight", "v.weight"}) {
    Dense& dense = repeated.at(name);
    dense = {{config.heads * config.head_dim, config.hidden}, {}};
    for (std::int64_t head = 0; head < config.heads; ++head) {
      const auto from = inputs.at(name).values.begin() + head / copies * row;
      dense.values.insert(dense.values.end(), from, from + row);
    }
  }
  const Solution a = solved(grouped, inputs);
  const Solution b = solved(full, repeated);
  for (const char* name : {"y", "dx", "grad.q.weight", "grad.out.weight"})
    expect_near(values(a, name), values(b, name), 1e-13);
  for (const char* name : {"grad.k.weight", "grad.v.weight"}) {
    std::vector<double> summed(config.kv_heads * row);
    const auto all = values(b, name);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto head = static_cast<std::int64_t>(i) / row;
      summed[head / copies * row + static_cast<std::int64_t>(i) % row] += all[i];
    }
    expect_near(values(a, name), summed, 1e-13);
  }
}

TEST(Rotary, LeavesScoresThatDependOnDistanceAlone) {
  for (const char* name : {"attention_gqa_halves", "attention_gqa_interleaved", "attention_llama3_scaling"}) {
    Sample sample = sample_named(name);
    sample.sequence = 5;
    sample.batch = 1;
    Solution unused;
    const Scope scope(sample.config, {}, {sample.sequence, 1}, Account::answers_only, unused);
    const std::int64_t dim = sample.config.head_dim;
    std::vector<double> q;
    std::vector<double> k;
    for (std::int64_t i = 0; i < sample.sequence * dim; ++i) {  // the same vectors at all positions
      q.push_back(1 + 0.25 * static_cast<double>(i % dim));
      k.push_back(2 - 0.5 * static_cast<double>(i % dim));
    }
    rotate(scope, q, Turn::forward);
    rotate(scope, k, Turn::forward);
    const auto score = [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t d = 0; d < dim; ++d) sum += q[i * dim + d] * k[j * dim + d];
      return sum;
    };
    EXPECT_NEAR(score(4, 2), score(2, 0), 1e-13) << name;
    EXPECT_NEAR(score(1, 4), score(0, 3), 1e-13) << name;
    EXPECT_GT(std::fabs(score(1, 0) - score(0, 1)), 1e-3) << name;
  }
}

TEST(Rotary, ScalingKeepsShortWavesAndStretchesLongOnes) {
  ModelConfig config;
  config.head_dim = 64;
  config.rotary_theta = 500000;
  const Values plain = rotary_frequencies(config);
  config.rotary_scaling = RotaryScaling{.factor = 32, .original_positions = 8192};
  const Values scaled = rotary_frequencies(config);
  EXPECT_EQ(scaled.front(), plain.front());
  EXPECT_EQ(scaled.back(), plain.back() / 32);
  std::int64_t between = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_LE(scaled[i], plain[i]);
    EXPECT_GE(scaled[i], plain[i] / 32);
    if (scaled[i] != plain[i] && scaled[i] != plain[i] / 32) ++between;
  }
  EXPECT_GT(between, 0);
}

// A mask of ones at p = 3/4 scales by 4, and one of zeros leaves the residual alone.
TEST(Dropout, KeepsAllOrNothing) {
  Sample sample = sample_named("vocab_embedding_dropout");
  sample.config.dropout.embedding = 0.75;
  Inputs inputs = sample_inputs(sample);
  std::vector<double>& mask = inputs.at("mask.embedding").values;
  std::fill(mask.begin(), mask.end(), 1.0);
  const auto scaled = values(solved(sample, inputs), "y");
  Inputs evaluated = inputs;
  evaluated.erase("mask.embedding");
  const auto plain = values(solved(sample, evaluated), "y");
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(scaled[i], 4 * plain[i]);
  std::fill(mask.begin(), mask.end(), 0.0);
  EXPECT_EQ(values(solved(sample, inputs), "y"), std::vector<double>(plain.size(), 0.0));
}

TEST(Dropout, ZeroMasksLeaveTheResidual) {
  const Sample sample = sample_named("block_dropout");
  Inputs inputs = sample_inputs(sample);
  for (auto& [name, dense] : inputs)
    if (name.ends_with("_output")) std::fill(dense.values.begin(), dense.values.end(), 0.0);
  const Solution solution = solved(sample, inputs);
  EXPECT_EQ(values(solution, "y"), inputs.at("x").values);
  EXPECT_EQ(values(solution, "dx"), inputs.at("dy").values);
}

TEST(Dropout, WantsZerosAndOnes) {
  const Sample sample = sample_named("block_dropout");
  Inputs inputs = sample_inputs(sample);
  inputs.at("mlp.mask.mlp_output").values[3] = 0.5;
  EXPECT_THROW(solved(sample, inputs), ContractError);
}

}  // namespace
}  // namespace tpc::baseline
