// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/explain/vectors.hpp"
#include "harness/judge/baselines/baseline_inputs.hpp"

namespace tpc {
namespace {

constexpr const char* gpt2 =
    "op=transformer_layer,tp=1,seq=3,hidden=4,heads=2,kv_heads=2,head_dim=2,ffn=6,qkv_bias=1,out_bias=1,mlp_"
    "bias=1,causal=1";
constexpr const char* llama =
    "op=transformer_layer,tp=1,seq=3,hidden=4,heads=2,kv_heads=1,head_dim=2,ffn=6,norm=rms_norm,mlp=swiglu,"
    "position=rotary";

Problem problem_of_line(const char* line) { return case_of(configuration_of(line), "one").request.problem; }

TEST(MisreadBlocks, AreRightWhereTheyAreWiredRight) {
  for (const char* line : {gpt2, llama}) {
    const Problem problem = problem_of_line(line);
    const baseline::Inputs inputs = baseline_inputs(problem);
    const Answers wired = solve_wired(problem.model, inputs, Wiring::right, Wiring::right);
    const Answers due = baseline::solve(Operation::transformer_layer, problem.model, inputs).answers;
    ASSERT_EQ(wired.size(), due.size());
    for (const auto& [name, answer] : due)
      EXPECT_LT(distance(wired.at(name).value.values, answer.value.values),
                1e-13 * (1 + norm(answer.value.values)))
          << line << ' ' << name;
  }
}

double along(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += a[i] * b[i];
  return product;
}

// What dy·y changes by where x moves, is what dx says.
TEST(MisreadBlocks, HaveTheGradientOfWhatTheyCompute) {
  const Problem problem = problem_of_line(gpt2);
  constexpr double step = 1e-6;
  for (const Wiring attention :
       {Wiring::right, Wiring::around_norm_output, Wiring::nothing_around, Wiring::norm_behind})
    for (const Wiring mlp :
         {Wiring::right, Wiring::around_norm_output, Wiring::nothing_around, Wiring::norm_behind}) {
      baseline::Inputs inputs = baseline_inputs(problem);
      const std::vector<double> dy = inputs.at("dy").values;
      const std::vector<double> x = inputs.at("x").values;
      const Answers answers = solve_wired(problem.model, inputs, attention, mlp);
      std::vector<double> direction(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) direction[i] = std::cos(static_cast<double>(i * i));
      const auto value_at = [&](double distance) {
        for (std::size_t i = 0; i < x.size(); ++i) inputs.at("x").values[i] = x[i] + distance * direction[i];
        return along(dy, solve_wired(problem.model, inputs, attention, mlp).at("y").value.values);
      };
      const double slope = (value_at(step) - value_at(-step)) / (2 * step);
      EXPECT_NEAR(along(answers.at("dx").value.values, direction), slope, 1e-6 * std::fabs(slope) + 1e-7)
          << static_cast<int>(attention) << ' ' << static_cast<int>(mlp);
    }
}

TEST(MisreadBlocks, AreNineWaysWithoutDropout) {
  Problem problem = problem_of_line(gpt2);
  EXPECT_EQ(misread_blocks(problem).size(), 9U);
  problem.model.dropout.hidden = 0.5;
  EXPECT_TRUE(misread_blocks(problem).empty());
}

}  // namespace
}  // namespace tpc
