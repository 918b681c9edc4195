// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/gradient_norms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Three ranks hold 4, 5 and 7 of what is cut, and 9 of what is not.
NormParts sums(double p = 2) { return {p, {4, 5, 7}, 9, {{"w", 17}, {"gain", 6}, {"bias", 2}}}; }
NormParts largest() { return {infinite, {4, 5, 7}, 6, {{"w", 7}, {"gain", 6}}}; }

std::string found(const NormParts& parts, const std::vector<double>& by_rank) {
  return norm_finding(parts, by_rank).value_or("");
}
std::string found(const NormParts& parts, double norm) {
  return found(parts, std::vector<double>(parts.sharded.size(), norm));
}

TEST(GradientNorms, SayNothingOfWhatIsRightOrUnknown) {
  EXPECT_EQ(found(sums(), 5), "");
  EXPECT_EQ(found(largest(), 7), "");
  EXPECT_EQ(found(sums(), 5.25), "");
  EXPECT_EQ(found(sums(), std::nan("")), "");
}

TEST(GradientNorms, KnowHowSumsGoWrong) {
  EXPECT_EQ(found(sums(), std::sqrt(16 + 27)),
            "parameters that all ranks hold count once per rank (fault TP-94)");
  EXPECT_EQ(found(sums(), std::sqrt(4 + 9)),
            "of the parameters that are cut the first rank's part alone counts (fault TP-96)");
  EXPECT_EQ(found(sums(), {std::sqrt(4 + 9), std::sqrt(5 + 9), std::sqrt(7 + 9)}),
            "each rank has the norm of what it holds alone: the sum over the ranks is missing");
  EXPECT_EQ(found(sums(), 4), "parameters that all ranks hold are left out");
  EXPECT_EQ(found(sums(), 3), "parameters that are cut are left out");
  EXPECT_EQ(found(sums(), std::sqrt(13) + std::sqrt(14) + 4),
            "the norms of the ranks are added up, where their powers should be");
  EXPECT_EQ(found(sums(), 25), "the root is not taken");
  EXPECT_EQ(found(sums(3), std::cbrt((16.0 + 27) / 3)), "the powers of the ranks are averaged");
}

TEST(GradientNorms, KnowHowMaximaGoWrong) {
  const std::string added =
      "the largest elements of the ranks are added up, where the largest of them is meant";
  EXPECT_EQ(found(largest(), 4 + 5 + 7), added);
  EXPECT_EQ(found(largest(), 6 + 6 + 7), added);
  EXPECT_EQ(
      found(largest(), {6, 6, 7}),
      "each rank has the largest element of what it holds alone: the maximum over the ranks is missing");
}

TEST(GradientNorms, KnowAGradientThatDoesNotCountOnce) {
  EXPECT_EQ(found(sums(), std::sqrt(23)), "the gradient of bias is left out");
  EXPECT_EQ(found(sums(), std::sqrt(31)), "the gradient of gain counts twice");
  EXPECT_EQ(found(sums(), std::sqrt(37)), "the gradient of gain counts once per rank");
}

double squares_of(const std::string& gradient, const Problem& problem) {
  baseline::Inputs inputs = parameters_of(problem);
  inputs.merge(batch_of(problem, 0));
  const baseline::Solution solution = baseline::solve(Operation::model, problem.model, inputs);
  double squares = 0;
  for (const double g : solution.answers.at(gradient).value.values) squares += g * g;
  return squares;
}

// Two ranks with halves of one table and the rest whole, which counts `times` in the norm of the first
// gradients.
std::optional<std::string> found_in_training(double times, bool with_wrong_shape) {
  Request request =
      case_of(configuration_of(
                  "op=model,tp=2,seq=2,hidden=4,heads=2,kv_heads=2,head_dim=2,ffn=8,vocab=6,layers=1"),
              "one")
          .request;
  request.problem.asked = Operation::train;
  request.problem.train.reports = {1};
  request.problem.inputs = inputs_for(request.problem, InputRecipe::gaussian, {});
  const baseline::Solution right = solve_training(request.problem, training_of(request.problem.train));
  const double cut = squares_of("grad.embedding.weight", request.problem);
  std::optional<std::string> found;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    std::vector<LocalTensor> answer;
    for (const auto& [name, own] : right.answers) {
      Shape shape = own.value.shape;
      if (with_wrong_shape && name.ends_with("gain")) shape[0] += 1;
      const Tensor values = host_tensor(DType::f64, shape, name);
      if (name == "gradient_norm")
        values.data<double>()[0] = std::sqrt(times * (own.value.values[0] * own.value.values[0] - cut) + cut);
      if (name == "step1.embedding.weight")
        answer.push_back({name, values.rows(ranks->rank() * 3, 3), shard(shape, 0, ranks->rank(), 2)});
      else
        answer.push_back({name, values, replicate(shape)});
    }
    const auto finding = norm_finding(request, answer, *ranks);
    if (ranks->rank() == 0) found = finding;
  });
  return found;
}

TEST(GradientNorms, GoByWhatTheAnswerSaysThatRanksHold) {
  EXPECT_EQ(found_in_training(2, false).value_or(""),
            "parameters that all ranks hold count once per rank (fault TP-94)");
  EXPECT_EQ(found_in_training(1, false), std::nullopt);
  EXPECT_EQ(found_in_training(2, true), std::nullopt);
}

}  // namespace
}  // namespace tpc
