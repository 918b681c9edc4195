// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "reference/baseline/sample.hpp"

namespace tpc::baseline {
namespace {

Sample loss_sample(const LossDefinition& definition) {
  Sample sample;
  sample.operation = Operation::vocab_cross_entropy;
  sample.config.vocab = 7;
  sample.config.loss = definition;
  return sample;
}

Solution solved_loss(const LossDefinition& definition, const Inputs& inputs) {
  const Sample sample = loss_sample(definition);
  return solve(sample.operation, sample.config, inputs);
}

double loss_of(const Solution& solution) { return solution.answers.at("loss").value.values.at(0); }

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheVocabulary) {
  Inputs inputs = sample_inputs(loss_sample({}));
  for (double& logit : inputs.at("logits").values) logit = 3;
  EXPECT_NEAR(loss_of(solved_loss({}, inputs)), std::log(7.0), 1e-15);
  EXPECT_NEAR(loss_of(solved_loss({.label_smoothing = 0.25}, inputs)), std::log(7.0), 1e-15);
}

TEST(CrossEntropy, WithoutSmoothingDoesNotAskOverWhatToSmooth) {
  const Inputs inputs = sample_inputs(loss_sample({}));
  const Solution all = solved_loss({.smoothing_over = SmoothingOver::all_classes}, inputs);
  const Solution other = solved_loss({.smoothing_over = SmoothingOver::other_classes}, inputs);
  for (const char* name : {"loss", "token_loss", "dlogits"})
    EXPECT_EQ(all.answers.at(name).value.values, other.answers.at(name).value.values) << name;
}

// Smoothing over all classes by e is smoothing over the others by e·(V-1)/V.
TEST(CrossEntropy, SmoothingOverAllAndOthersDifferByTheTargetsShare) {
  const Inputs inputs = sample_inputs(loss_sample({}));
  const Solution all = solved_loss({.label_smoothing = 0.35}, inputs);
  const Solution other =
      solved_loss({.label_smoothing = 0.3, .smoothing_over = SmoothingOver::other_classes}, inputs);
  EXPECT_NEAR(loss_of(all), loss_of(other), 1e-15);
  EXPECT_GT(std::fabs(loss_of(all) - loss_of(solved_loss({}, inputs))), 1e-3);
}

TEST(CrossEntropy, TakesNoNoticeOfAShiftOfTheLogits) {
  Inputs inputs = sample_inputs(loss_sample({.label_smoothing = 0.1}));
  const Solution before = solved_loss({.label_smoothing = 0.1}, inputs);
  for (double& logit : inputs.at("logits").values) logit += 1e5;
  const Solution after = solved_loss({.label_smoothing = 0.1}, inputs);
  EXPECT_NEAR(loss_of(after), loss_of(before), 1e-11);
  EXPECT_GT(after.answers.at("loss").scale_max, 1e5);
}

TEST(CrossEntropy, SurvivesVeryLargeLogits) {
  Inputs inputs = sample_inputs(loss_sample({}));
  for (double& logit : inputs.at("logits").values) logit *= 1e6;
  const Solution solution = solved_loss({}, inputs);
  for (const auto& [name, answer] : solution.answers)
    for (const double value : answer.value.values) EXPECT_TRUE(std::isfinite(value)) << name;
}

TEST(CrossEntropy, IgnoredTokensCountOnlyInTheMeanOverAll) {
  const Inputs inputs = sample_inputs(loss_sample({}));  // 2 of 6 are ignored
  const Solution valid = solved_loss({}, inputs);
  const Solution all = solved_loss({.mean_over = LossMean::all_tokens}, inputs);
  EXPECT_NEAR(loss_of(valid) * 4 / 6, loss_of(all), 1e-15);
  for (const std::size_t token : {1U, 5U}) {
    EXPECT_EQ(valid.answers.at("token_loss").value.values[token], 0);
    for (std::size_t v = 0; v < 7; ++v) EXPECT_EQ(valid.answers.at("dlogits").value.values[token * 7 + v], 0);
  }
}

TEST(CrossEntropy, IsZeroWhereEveryTokenIsIgnored) {
  Inputs inputs = sample_inputs(loss_sample({}));
  for (double& target : inputs.at("targets").values) target = -100;
  const Solution solution = solved_loss({.label_smoothing = 0.1, .z_loss = 0.1}, inputs);
  EXPECT_EQ(loss_of(solution), 0);
  for (const double value : solution.answers.at("dlogits").value.values) EXPECT_EQ(value, 0);
}

TEST(CrossEntropy, GradientOfEachTokenSumsToZeroWithoutZLoss) {
  const Inputs inputs = sample_inputs(loss_sample({}));
  const auto dlogits = solved_loss({.label_smoothing = 0.2}, inputs).answers.at("dlogits").value.values;
  for (std::size_t token = 0; token < 6; ++token) {
    double sum = 0;
    for (std::size_t v = 0; v < 7; ++v) sum += dlogits[token * 7 + v];
    EXPECT_NEAR(sum, 0, 1e-16);
  }
}

TEST(CrossEntropy, RefusesATargetOutsideTheVocabulary) {
  Inputs inputs = sample_inputs(loss_sample({}));
  inputs.at("targets").values[0] = 7;
  EXPECT_THROW(solved_loss({}, inputs), ContractError);
}

}  // namespace
}  // namespace tpc::baseline
