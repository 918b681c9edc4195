// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/problem_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {
namespace {

struct Geometry {
  Operation operation;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
  std::int64_t ffn;
  std::int64_t sequence;
  MlpKind mlp = MlpKind::gelu;
};

Problem problem_of(const Geometry& g, DType dtype, InputRecipe recipe) {
  Problem problem;
  problem.asked = g.operation;
  problem.dtype = dtype;
  problem.seed = 9;
  problem.batch = 2;
  problem.sequence = g.sequence;
  ModelConfig& c = problem.model;
  c.hidden = g.hidden;
  c.heads = g.heads;
  c.kv_heads = g.kv_heads;
  c.head_dim = g.head_dim;
  c.ffn = g.ffn;
  c.mlp = g.mlp;
  c.vocab = 100;
  c.positions = 32;
  problem.inputs = inputs_for(problem, recipe, {120});
  return problem;
}

baseline::Solution solution_of(const Problem& problem, baseline::Account account) {
  baseline::Inputs inputs;
  for (const InputSpec& input : problem.inputs)
    inputs[input.name] = {input.shape, draw_rounded(problem, input)};
  return baseline::solve(problem.operation(), problem.model, inputs, account);
}

double limit_of(DType dtype, const std::string& contraction) {
  const bool statistics = contraction.find("statistics.") != std::string::npos;
  return 1 / unit_roundoff(dtype == DType::bf16 && statistics ? DType::f32 : dtype);
}

void expect_exact(const Geometry& g, DType dtype) {
  const Problem problem = problem_of(g, dtype, InputRecipe::exact);
  const baseline::Solution solution = solution_of(problem, baseline::Account::contractions_too);
  EXPECT_FALSE(solution.contractions.empty());
  for (const auto& contraction : solution.contractions)
    EXPECT_LE(contraction.quanta, limit_of(dtype, contraction.name))
        << name(g.operation) << " in " << name(dtype) << ", H " << g.hidden << ": " << contraction.name;
  for (const auto& [answer_name, answer] : solution.answers) {
    double squares = 0;
    for (const double value : answer.value.values) squares += value * value;
    EXPECT_TRUE(squares > 0 || answer_name == "grad.k.bias") << answer_name << " is all zero";
  }
}

using Op = Operation;

TEST(ExactInputs, EveryContractionIsWithinTheFormat) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const Geometry& g : {Geometry{Op::column_linear, 96, 24, 24, 4, 192, 24},
                              {Op::row_linear, 96, 24, 24, 4, 192, 24},
                              {Op::column_linear, 512, 24, 24, 4, 1024, 32},
                              {Op::mlp, 96, 24, 24, 4, 192, 24},
                              {Op::mlp, 96, 24, 24, 4, 192, 24, MlpKind::swiglu},
                              {Op::mlp, 512, 24, 24, 4, 1024, 24},
                              {Op::mlp, 512, 24, 24, 4, 1024, 16, MlpKind::swiglu},
                              {Op::layer_norm, 96, 24, 24, 4, 192, 24},
                              {Op::rms_norm, 96, 24, 24, 4, 192, 24},
                              {Op::vocab_embedding, 96, 24, 24, 4, 192, 24},
                              {Op::vocab_cross_entropy, 96, 24, 24, 4, 192, 24}})
      expect_exact(g, dtype);
}

TEST(ExactInputs, AttentionIsWithinTheFormat) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const Geometry& g : {Geometry{Op::attention, 96, 24, 24, 4, 0, 24},
                              {Op::attention, 96, 24, 2, 4, 0, 24},
                              {Op::attention, 96, 24, 1, 4, 0, 24},
                              {Op::attention, 64, 4, 1, 16, 0, 12},
                              {Op::attention, 256, 4, 4, 64, 0, 32}})
      expect_exact(g, dtype);
}

TEST(ExactInputs, BlocksHaveNone) {
  EXPECT_THROW(problem_of({Op::transformer_layer, 96, 24, 24, 4, 192, 24}, DType::f64, InputRecipe::exact),
               ContractError);
}

TEST(GaussianInputs, SuitEveryOperationAndHaveMeans) {
  for (const Op operation :
       {Op::column_linear, Op::row_linear, Op::mlp, Op::attention, Op::layer_norm, Op::rms_norm,
        Op::vocab_embedding, Op::vocab_cross_entropy, Op::transformer_layer, Op::model}) {
    const Problem problem = problem_of({operation, 96, 24, 6, 4, 192, 24}, DType::f64, InputRecipe::gaussian);
    const baseline::Solution solution = solution_of(problem, baseline::Account::answers_only);
    EXPECT_GE(solution.answers.size(), 2U) << name(operation);
    for (const auto& [answer_name, answer] : solution.answers)
      for (const double value : answer.value.values) ASSERT_TRUE(std::isfinite(value)) << answer_name;
    for (const InputSpec& input : problem.inputs)
      EXPECT_TRUE(input.generator.kind != Generator::Kind::gaussian || input.generator.a != 0) << input.name;
  }
}

TEST(GaussianInputs, TheLossIsThatOfADistribution) {
  const Problem problem = problem_of({Op::model, 96, 24, 6, 4, 192, 24}, DType::f64, InputRecipe::gaussian);
  const double loss =
      solution_of(problem, baseline::Account::answers_only).answers.at("loss").value.values[0];
  EXPECT_GT(loss, 0.5 * std::log(100));
  EXPECT_LT(loss, 3 * std::log(100));
}

TEST(Inputs, TextAndVocabularyAreHandedOn) {
  Problem problem = problem_of({Op::model, 96, 24, 6, 4, 192, 24}, DType::f64, InputRecipe::gaussian);
  problem.inputs = inputs_for(problem, InputRecipe::gaussian, {120, 8, 0.25, "some.txt"});
  const Generator ids = {Generator::Kind::text_tokens, 100, 8, 0, 120, "some.txt"};
  Generator targets = ids;
  targets.kind = Generator::Kind::text_targets;
  targets.c = 0.25;
  EXPECT_EQ(input_named(problem, "ids").generator, ids);
  EXPECT_EQ(input_named(problem, "targets").generator, targets);
}

}  // namespace
}  // namespace tpc
