// SPDX-License-Identifier: Apache-2.0
// The account of contractions, on which the exact tier rests, and the inputs that solve refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "reference/baseline/sample.hpp"

namespace tpc::baseline {
namespace {

std::map<std::string, double> quanta_of(const Sample& sample, const Inputs& inputs) {
  const Solution solution = solve(sample.operation, sample.config, inputs, Account::contractions_too);
  std::map<std::string, double> quanta;
  for (const auto& [name, value] : solution.contractions) quanta[name] = std::max(quanta[name], value);
  return quanta;
}

Sample small_linear() {
  Sample sample;
  sample.operation = Operation::column_linear;
  sample.config.hidden = 3;
  sample.config.ffn = 2;
  sample.sequence = 2;
  sample.batch = 1;
  return sample;
}

Inputs small_linear_inputs() {
  return {{"x", {{2, 1, 3}, {1, -2, 3, 4, 0, -1}}},
          {"dy", {{2, 1, 2}, {2, -4, 6, 8}}},
          {"weight", {{2, 3}, {0.5, 1, -1.5, 2, 0, 0.5}}},
          {"bias", {{2}, {8, -16}}}};
}

TEST(Account, CountsTheSumOfMagnitudesInUnitsOfTheLowestBit) {
  const auto quanta = quanta_of(small_linear(), small_linear_inputs());
  // y: units of 1·0.5; the worst is y[1,1] = |4·2| + |0·0| + |-1·0.5| + |-16|
  EXPECT_EQ(quanta.at("y"), 24.5 / 0.5);
  // dx: units of 2·0.5; dx[1,0] = |6·0.5| + |8·2|
  EXPECT_EQ(quanta.at("dx"), 19.0);
  // grad.weight: units of 2·1; [1,0] = |-4·1| + |8·4|
  EXPECT_EQ(quanta.at("grad.weight"), 36.0 / 2);
  EXPECT_EQ(quanta.at("grad.bias"), 12.0 / 2);
  EXPECT_EQ(quanta.size(), 4U);
}

TEST(Account, ABiasWithFinerDigitsRefinesTheUnit) {
  Inputs inputs = small_linear_inputs();
  inputs.at("bias").values = {8, -16.125};
  EXPECT_EQ(quanta_of(small_linear(), inputs).at("y"), 24.625 / 0.125);
}

TEST(Account, ScalesAreThoseOfTheTerms) {
  const Solution solution = solve(Operation::column_linear, small_linear().config, small_linear_inputs());
  EXPECT_TRUE(solution.contractions.empty());
  const Answer& bias = solution.answers.at("grad.bias");
  EXPECT_EQ(bias.value.values, (std::vector<double>{8, 4}));
  EXPECT_EQ(bias.scale_max, 12);
  EXPECT_DOUBLE_EQ(bias.scale_norm, std::sqrt(8.0 * 8 + 12 * 12));
  EXPECT_EQ(solution.answers.at("y").scale_max, 24.5);
}

TEST(Account, ChangesNoAnswer) {
  for (const Sample& sample : samples()) {
    const Inputs inputs = sample_inputs(sample);
    const Solution plain = solve(sample.operation, sample.config, inputs);
    const Solution accounted = solve(sample.operation, sample.config, inputs, Account::contractions_too);
    ASSERT_EQ(plain.answers.size(), accounted.answers.size()) << sample.name;
    EXPECT_FALSE(accounted.contractions.empty()) << sample.name;
    for (const auto& [name, answer] : plain.answers) {
      const Answer& other = accounted.answers.at(name);
      EXPECT_EQ(answer.value.values, other.value.values) << sample.name << " " << name;
      EXPECT_EQ(answer.scale_norm, other.scale_norm) << sample.name << " " << name;
    }
  }
}

// A saturated GeLU leaves nothing to round; the same weights a little off do.
TEST(Account, TellsASaturatedMlpFromAnotherOne) {
  Sample sample;
  sample.config.hidden = 4;
  sample.config.ffn = 6;
  Inputs inputs = sample_inputs({"", Operation::mlp, sample.config});
  for (auto& [name, dense] : inputs) {
    const double unit = name.starts_with("fc1") ? 64 : name.starts_with("fc2.weight") ? 0x1p-6 : 1;
    for (double& value : dense.values) value = std::round(4 * value) * unit;
  }
  for (const auto& [name, quanta] : quanta_of(sample, inputs)) EXPECT_LT(quanta, 0x1p14) << name;
  for (const char* name : {"fc1.weight", "fc1.bias"})
    for (double& value : inputs.at(name).values) value /= 64;
  EXPECT_EQ(quanta_of(sample, inputs).at("hidden"), std::numeric_limits<double>::infinity());
}

// Rows of 2^20·{0, ±1, ±2} with sum 0 and mean square 2^40, so that eps is absorbed and 1/rms = 2^-20.
TEST(Account, TellsAnExactNormFromAnotherOne) {
  Sample sample{"", Operation::layer_norm, {}, 1, 1};
  sample.config.hidden = 8;
  const std::vector<double> digits = {2, -2, 0, 0, 0, 0, 0, 0};
  Inputs inputs = {{"x", {{1, 1, 8}, digits}},
                   {"dy", {{1, 1, 8}, {3, 3, 1, 1, -2, -2, 0, 0}}},
                   {"gain", {{8}, {2, 2, 2, 2, 2, 2, 2, 2}}},
                   {"bias", {{8}, {1, 1, 1, 1, 1, 1, 1, 1}}}};
  for (double& value : inputs.at("x").values) value *= 0x1p20;
  for (const auto& [name, quanta] : quanta_of(sample, inputs)) EXPECT_LT(quanta, 0x1p8) << name;
  const Solution solution = solve(sample.operation, sample.config, inputs);
  EXPECT_EQ(solution.answers.at("y").value.values, (std::vector<double>{5, -3, 1, 1, 1, 1, 1, 1}));
  inputs.at("x").values[2] = 1;
  EXPECT_EQ(quanta_of(sample, inputs).at("statistics.rstd"), std::numeric_limits<double>::infinity());
}

TEST(Account, NamesContractionsByTheirPlace) {
  Sample sample;
  for (const Sample& each : samples())
    if (each.name == "model_qwen2") sample = each;
  const auto quanta = quanta_of(sample, sample_inputs(sample));
  for (const char* name :
       {"embedding.y", "blocks.0.attention.q.y", "blocks.0.attention.scores", "blocks.0.attention.dk",
        "blocks.0.mlp.down.grad.weight", "blocks.0.residual1", "final_norm.statistics.rstd", "head.y",
        "head.dx", "statistics.loss", "grad.embedding.weight"})
    EXPECT_TRUE(quanta.contains(name)) << name;
}

TEST(Solve, AnswersNothingForNoTokens) {
  for (Sample sample : samples()) {
    if (sample.operation == Operation::model) continue;
    for (const auto& [sequence, batch] : {std::pair{0, 2}, std::pair{3, 0}}) {
      sample.sequence = sequence;
      sample.batch = batch;
      const Solution solution =
          solve(sample.operation, sample.config, sample_inputs(sample), Account::contractions_too);
      for (const auto& [name, answer] : solution.answers)
        for (const double value : answer.value.values) EXPECT_EQ(value, 0) << sample.name << " " << name;
    }
  }
}

TEST(Solve, StopsAfterForwardWithoutAnUpstream) {
  for (const Sample& sample : samples()) {
    Inputs inputs = sample_inputs(sample);
    inputs.erase("dy");
    inputs.erase("dloss");
    std::set<std::string> names;
    for (const auto& [name, answer] : solve(sample.operation, sample.config, inputs).answers)
      names.insert(name);
    const bool loss =
        sample.operation == Operation::model || sample.operation == Operation::vocab_cross_entropy;
    EXPECT_EQ(names, loss ? (std::set<std::string>{"loss", "token_loss"}) : std::set<std::string>{"y"})
        << sample.name;
  }
}

std::string complaint(const Sample& sample, const Inputs& inputs) {
  try {
    solve(sample.operation, sample.config, inputs);
  } catch (const ContractError& error) {
    return error.what();
  }
  return "none";
}

TEST(Solve, NamesAMissingOrMisshapenInput) {
  const Sample sample = small_linear();
  Inputs inputs = small_linear_inputs();
  inputs.erase("bias");
  EXPECT_NE(complaint(sample, inputs).find("lacks the input 'bias' of shape [2]"), std::string::npos);
  inputs = small_linear_inputs();
  inputs.at("weight").shape = {3, 2};
  EXPECT_NE(complaint(sample, inputs).find("'weight' has the shape [3, 2], not [2, 3]"), std::string::npos);
  inputs.erase("x");
  EXPECT_NE(complaint(sample, inputs).find("column_linear lacks the input 'x'"), std::string::npos);
}

TEST(Solve, RefusesAnIdOutsideTheVocabulary) {
  Sample sample{"", Operation::vocab_embedding, {}};
  sample.config.hidden = 2;
  sample.config.vocab = 5;
  sample.config.positions = 3;
  Inputs inputs = sample_inputs(sample);
  EXPECT_EQ(complaint(sample, inputs), "none");
  inputs.at("ids").values[2] = 5;
  EXPECT_NE(complaint(sample, inputs).find("token id 5 in a vocabulary of 5"), std::string::npos);
  sample.sequence = 4;
  EXPECT_NE(complaint(sample, sample_inputs(sample)).find("sequence of 4 with 3 learned positions"),
            std::string::npos);
}

}  // namespace
}  // namespace tpc::baseline
