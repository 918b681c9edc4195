// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/train.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/baseline/sample.hpp"

namespace tpc::baseline {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Split {
  Sample sample;
  Inputs parameters;
  Inputs batch;
};

Split split_sample(const std::string& name) {
  Split split;
  for (const Sample& sample : samples())
    if (sample.name == name) split.sample = sample;
  for (auto& [input, dense] : sample_inputs(split.sample)) {
    const bool of_batch =
        input == "ids" || input == "targets" || input == "dloss" || input.find("mask.") != std::string::npos;
    (of_batch ? split.batch : split.parameters)[input] = dense;
  }
  return split;
}

Solution trained(const Split& split, const Training& training) {
  return train(split.sample.config, split.parameters, training, [&](std::int64_t) { return split.batch; });
}

Inputs all_inputs(const Split& split) {
  Inputs inputs = split.parameters;
  inputs.insert(split.batch.begin(), split.batch.end());
  return inputs;
}

std::vector<double> after(const Solution& solution, std::int64_t step, const std::string& parameter) {
  return solution.answers.at("step" + std::to_string(step) + "." + parameter).value.values;
}

// p - g, from gradients that are proved elsewhere.
TEST(Train, OneStepOfSgdSubtractsTheGradient) {
  const Split split = split_sample("model_gpt2_dropout");
  const Solution once = solve(Operation::model, split.sample.config, all_inputs(split));
  const Solution solution = trained(split, {.reports = {1}});
  for (const auto& [name, dense] : split.parameters) {
    const auto& gradient = once.answers.at("grad." + name).value.values;
    const auto moved = after(solution, 1, name);
    for (std::size_t i = 0; i < moved.size(); ++i) EXPECT_EQ(moved[i], dense.values[i] - gradient[i]) << name;
  }
  EXPECT_EQ(solution.answers.at("loss").value.values, once.answers.at("loss").value.values);
}

// The first step of Adam moves each weight by lr in the direction of its gradient, of which the decay is a
// part.
TEST(Train, AdamDecaysThroughTheGradientAndAdamWBesideIt) {
  const Split split = split_sample("model_gpt2");
  const Solution once = solve(Operation::model, split.sample.config, all_inputs(split));
  Training training{.rule = Training::Rule::adam, .lr = 0.25, .eps = 0.5, .weight_decay = 2, .reports = {1}};
  const Solution adam = trained(split, training);
  training.rule = Training::Rule::adamw;
  const Solution adamw = trained(split, training);
  for (const auto& [name, dense] : split.parameters) {
    const auto& gradient = once.answers.at("grad." + name).value.values;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double w = dense.values[i];
      const double decayed = gradient[i] + 2 * w;
      EXPECT_NEAR(after(adam, 1, name)[i], w - 0.25 * decayed / (std::fabs(decayed) + 0.5), 1e-12) << name;
      EXPECT_NEAR(after(adamw, 1, name)[i], w / 2 - 0.25 * gradient[i] / (std::fabs(gradient[i]) + 0.5),
                  1e-12)
          << name;
    }
  }
}

TEST(Train, DecaySparesParametersOfFewerDims) {
  const Split split = split_sample("model_gpt2");
  const Training all{.rule = Training::Rule::adamw, .weight_decay = 2, .reports = {1}};
  Training matrices = all;
  matrices.decays_from_dims = 2;
  Training none = all;
  none.weight_decay = 0;
  for (const auto& [name, dense] : split.parameters)
    EXPECT_EQ(after(trained(split, matrices), 1, name),
              after(trained(split, dense.shape.size() < 2 ? none : all), 1, name))
        << name;
}

TEST(Train, GoesOnFromStepToStep) {
  const Split split = split_sample("model_llama");
  const Solution whole = trained(split, {.lr = 0.25, .reports = {1, 2, 3}});
  Split later = split;
  for (auto& [name, dense] : later.parameters) dense.values = after(whole, 1, name);
  const Solution rest = trained(later, {.lr = 0.25, .reports = {2}});
  for (const auto& [name, dense] : split.parameters)
    EXPECT_EQ(after(whole, 3, name), after(rest, 2, name)) << name;
  EXPECT_EQ(whole.answers.at("loss").value.shape, Shape{3});
  EXPECT_LT(whole.answers.at("loss").value.values[2], whole.answers.at("loss").value.values[0]);
}

TEST(Train, ClippingLimitsTheMove) {
  const Split split = split_sample("model_gpt2");
  for (const double p : {1.0, 2.0, 3.0, infinite}) {
    const Solution solution = trained(split, {.max_norm = 0.125, .norm = p, .reports = {1}});
    EXPECT_GT(solution.answers.at("gradient_norm").value.values[0], 0.125);
    double sum = 0;
    double largest = 0;
    for (const auto& [name, dense] : split.parameters) {
      const auto moved = after(solution, 1, name);
      for (std::size_t i = 0; i < moved.size(); ++i) {
        const double move = std::fabs(moved[i] - dense.values[i]);
        largest = std::max(largest, move);
        sum += std::isinf(p) ? 0 : std::pow(move, p);
      }
    }
    EXPECT_NEAR(std::isinf(p) ? largest : std::pow(sum, 1 / p), 0.125, 1e-6) << p;
  }
}

TEST(Train, LooseClippingChangesNothing) {
  const Split split = split_sample("model_gpt2");
  const Solution free = trained(split, {.reports = {2}});
  const Solution loose = trained(split, {.max_norm = 1e9, .reports = {2}});
  for (const auto& [name, dense] : split.parameters) EXPECT_EQ(after(free, 2, name), after(loose, 2, name));
}

TEST(Train, MomentumAddsUpEqualGradients) {
  const Split split = split_sample("model_llama");
  const Solution plain = trained(split, {.lr = 1e-9, .reports = {2}});
  const Solution heavy = trained(split, {.lr = 1e-9, .momentum = 0.5, .reports = {2}});
  for (const auto& [name, dense] : split.parameters) {
    const auto a = after(plain, 2, name);
    const auto b = after(heavy, 2, name);
    for (std::size_t i = 0; i < a.size(); ++i)  // 1 + (1 + 1/2) instead of 1 + 1 gradients
      EXPECT_NEAR((b[i] - dense.values[i]) / 2.5, (a[i] - dense.values[i]) / 2, 1e-15) << name;
  }
}

// The first update is lr·g/(|g| + eps) whatever the betas, after the decay of the parameter.
TEST(Train, FirstStepOfAdamWGoesByTheSign) {
  const Split split = split_sample("model_gpt2");
  const Solution once = solve(Operation::model, split.sample.config, all_inputs(split));
  const Solution solution = trained(
      split, {.rule = Training::Rule::adamw, .lr = 0.5, .eps = 1e-3, .weight_decay = 0.25, .reports = {1}});
  for (const auto& [name, dense] : split.parameters) {
    const auto& g = once.answers.at("grad." + name).value.values;
    const auto moved = after(solution, 1, name);
    for (std::size_t i = 0; i < moved.size(); ++i)
      EXPECT_NEAR(moved[i], dense.values[i] * 0.875 - 0.5 * g[i] / (std::fabs(g[i]) + 1e-3), 1e-12) << name;
    EXPECT_EQ(solution.answers.at("step1." + name).scale_max, 0.5);
  }
}

// Of one element, by hand: g = 1 then -1, beta1 = 1/2, beta2 = 3/4, lr 1, eps tiny.
//   m: 1/2, -1/4; v: 1/4, 7/16; corrections 3/4 and 7/16: the second move is -(-1/3)/1.
TEST(Train, SecondStepOfAdamWByHand) {
  const Split split = split_sample("model_gpt2");
  std::int64_t calls = 0;
  const Batches batches = [&](std::int64_t step) {
    Inputs batch = split.batch;
    batch.at("dloss").values[0] = step == 0 ? 1 : -1;
    ++calls;
    return batch;
  };
  const Training training{.rule = Training::Rule::adamw,
                          .lr = 1e-12,
                          .beta1 = 0.5,
                          .beta2 = 0.75,
                          .eps = 1e-13,
                          .reports = {1, 2}};
  const Solution solution = train(split.sample.config, split.parameters, training, batches);
  EXPECT_EQ(calls, 2);
  const std::string name = "final_norm.bias";  // no gradient of it is near zero
  const auto first = after(solution, 1, name);
  const auto second = after(solution, 2, name);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double sign = first[i] < split.parameters.at(name).values[i] ? 1 : -1;
    EXPECT_NEAR((second[i] - first[i]) / 1e-12, sign / 3, 1e-3) << i;
  }
}

TEST(Train, WantsReportsInOrder) {
  const Split split = split_sample("model_gpt2");
  for (const std::vector<std::int64_t>& reports : {std::vector<std::int64_t>{}, {0}, {2, 1}})
    EXPECT_THROW(trained(split, {.reports = reports}), ContractError);
}

}  // namespace
}  // namespace tpc::baseline
