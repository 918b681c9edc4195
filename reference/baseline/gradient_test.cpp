// SPDX-License-Identifier: Apache-2.0
// Every gradient of every operation against central differences of the forward pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/baseline/sample.hpp"
#include "reference/core/philox.hpp"

namespace tpc::baseline {
namespace {

bool differentiable(const std::string& input) {
  return input != "ids" && input != "targets" && input != "dy" && input != "dloss" &&
         input.find("mask.") == std::string::npos;
}

std::string gradient_name(const std::string& input) {
  return input == "x" || input == "logits" ? "d" + input : "grad." + input;
}

// The scalar whose gradient the answers are: Σ y·dy, or dloss·loss.
double objective(const Sample& sample, const Inputs& inputs) {
  const Solution solution = solve(sample.operation, sample.config, inputs);
  if (inputs.contains("dloss"))
    return inputs.at("dloss").values[0] * solution.answers.at("loss").value.values[0];
  const auto& y = solution.answers.at("y").value.values;
  const auto& dy = inputs.at("dy").values;
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
  return sum;
}

// The derivative of the objective as the input moves along the direction, to fourth order in the step.
double slope(const Sample& sample, Inputs inputs, const std::string& input,
             const std::vector<double>& direction) {
  constexpr double step = 0x1p-13;
  const std::vector<double> at = inputs.at(input).values;
  const auto moved = [&](double by) {
    auto& values = inputs.at(input).values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = at[i] + by * direction[i];
    return objective(sample, inputs);
  };
  return (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
}

std::vector<std::vector<double>> directions(const std::string& input, std::size_t size) {
  std::vector<std::vector<double>> all;
  const std::uint64_t key = hash_name(input);
  for (std::uint64_t stream = 0; stream < 2; ++stream) {
    std::vector<double> direction(size);
    for (std::size_t i = 0; i < size; ++i) direction[i] = gaussian(philox(key, i, stream));
    all.push_back(std::move(direction));
  }
  for (const std::size_t coordinate : {std::size_t{0}, size / 2, size - 1}) {
    std::vector<double> direction(size);
    direction[coordinate] = 1;
    all.push_back(std::move(direction));
  }
  return all;
}

class Gradient : public testing::TestWithParam<Sample> {};

TEST_P(Gradient, EqualsCentralDifferences) {
  const Sample& sample = GetParam();
  const Inputs inputs = sample_inputs(sample);
  const Solution solution = solve(sample.operation, sample.config, inputs);
  for (const auto& [input, dense] : inputs) {
    if (!differentiable(input)) continue;
    ASSERT_TRUE(solution.answers.contains(gradient_name(input))) << gradient_name(input);
    const Answer& gradient = solution.answers.at(gradient_name(input));
    ASSERT_EQ(gradient.value.shape, dense.shape) << input;
    for (const auto& direction : directions(input, dense.values.size())) {
      double expected = 0;
      double reach = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) {
        expected += gradient.value.values[i] * direction[i];
        reach += std::fabs(direction[i]);
      }
      const double got = slope(sample, inputs, input, direction);
      EXPECT_NEAR(got, expected, 1e-8 * std::max(1.0, gradient.scale_max) * std::max(1.0, reach)) << input;
    }
  }
}

TEST_P(Gradient, IsLinearInTheUpstream) {
  const Sample& sample = GetParam();
  Inputs inputs = sample_inputs(sample);
  const Solution once = solve(sample.operation, sample.config, inputs);
  for (const char* upstream : {"dy", "dloss"})
    if (inputs.contains(upstream))
      for (double& value : inputs.at(upstream).values) value *= -4;
  const Solution scaled = solve(sample.operation, sample.config, inputs);
  for (const auto& [name, answer] : once.answers) {
    if (name == "y" || name == "loss" || name == "token_loss") continue;
    const Answer& other = scaled.answers.at(name);
    for (std::size_t i = 0; i < answer.value.values.size(); ++i)
      EXPECT_DOUBLE_EQ(-4 * answer.value.values[i], other.value.values[i]) << name;
    EXPECT_DOUBLE_EQ(4 * answer.scale_norm, other.scale_norm) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Baseline, Gradient, testing::ValuesIn(samples()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpc::baseline
