// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misread_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

namespace {

using baseline::Dense;
using baseline::Inputs;

// xhat = (x - mean) / spread(variance), where the mean may be left out of both.
struct NormFormula {
  bool centred = true;
  std::function<double(double variance)> spread;
  std::function<double(double variance)> slope;  // of the spread
  double added_to_gain = 0;
};

NormFormula asked_norm(const Problem& problem) {
  const double eps = problem.model.norm_eps;
  const auto spread = [eps](double variance) { return std::sqrt(variance + eps); };
  return {problem.asks(Operation::layer_norm), spread,
          [spread](double variance) { return 0.5 / spread(variance); }};
}

// One row of y and dx; adds to the gradients of gain and bias.
struct NormRow {
  const double* x;
  const double* dy;
  double* y;
  double* dx;
};
struct NormParameters {
  const std::vector<double>& gain;
  const std::vector<double>& bias;  // empty: none
  std::vector<double>& dgain;
  std::vector<double>& dbias;
};
void normalise(const NormFormula& formula, const NormRow& row, const NormParameters& parameters) {
  const std::size_t width = parameters.gain.size();
  const auto n = static_cast<double>(width);
  double mean = 0;
  for (std::size_t i = 0; i < width; ++i) mean += formula.centred ? row.x[i] / n : 0;
  double variance = 0;
  for (std::size_t i = 0; i < width; ++i) variance += (row.x[i] - mean) * (row.x[i] - mean) / n;
  const double spread = formula.spread(variance);
  double mean_dxhat = 0;
  double along = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const double gain = parameters.gain[i] + formula.added_to_gain;
    const double xhat = (row.x[i] - mean) / spread;
    row.y[i] = gain * xhat + (parameters.bias.empty() ? 0 : parameters.bias[i]);
    parameters.dgain[i] += row.dy[i] * xhat;
    if (!parameters.bias.empty()) parameters.dbias[i] += row.dy[i];
    mean_dxhat += formula.centred ? gain * row.dy[i] / n : 0;
    along += gain * row.dy[i] * (row.x[i] - mean);
  }
  for (std::size_t i = 0; i < width; ++i) {
    const double dxhat = (parameters.gain[i] + formula.added_to_gain) * row.dy[i];
    row.dx[i] = (dxhat - mean_dxhat) / spread -
                along * formula.slope(variance) * 2 * (row.x[i] - mean) / (n * spread * spread);
  }
}

Answers normalised(const Problem& problem, const NormFormula& formula) {
  const Inputs inputs = baseline_inputs(problem);
  const Dense& x = inputs.at("x");
  const Dense& gain = inputs.at("gain");
  const auto bias = inputs.find("bias");
  std::map<std::string, Dense> values;
  values["y"] = values["dx"] = {x.shape, std::vector<double>(x.values.size())};
  values["grad.gain"] = {gain.shape, std::vector<double>(gain.values.size())};
  std::vector<double> dbias(gain.values.size());
  const std::vector<double> none;
  const NormParameters parameters{gain.values, bias == inputs.end() ? none : bias->second.values,
                                  values["grad.gain"].values, dbias};
  const std::size_t width = gain.values.size();
  for (std::size_t at = 0; at < x.values.size(); at += width)
    normalise(formula,
              {&x.values[at], &inputs.at("dy").values[at], &values["y"].values[at], &values["dx"].values[at]},
              parameters);
  if (bias != inputs.end()) values["grad.bias"] = {gain.shape, dbias};
  Answers answers;
  for (auto& [name, value] : values) answers[name].value = std::move(value);
  return answers;
}

Misreading other_norm(const std::string& title, const NormFormula& formula) {
  Misreading misreading;
  misreading.id = "norm";
  misreading.title = title;
  misreading.instead = [formula](const Problem& problem) { return normalised(problem, formula); };
  return misreading;
}

void add_norms(const Problem& problem, std::vector<Misreading>& all) {
  const NormFormula asked = asked_norm(problem);
  const double eps = problem.model.norm_eps;
  const auto n = static_cast<double>(problem.model.hidden);
  NormFormula other = asked;
  other.centred = !asked.centred;
  all.push_back(other_norm(asked.centred
                               ? "a norm without the mean taken off: an RMS norm where a layer norm is asked"
                               : "a norm with the mean taken off: a layer norm where an RMS norm is asked",
                           other));
  other = asked;
  other.added_to_gain = 1;
  all.push_back(other_norm("a norm whose gain is counted from 1 on", other));
  other = asked;
  other.spread = [eps](double variance) { return std::sqrt(variance) + eps; };
  other.slope = [](double variance) { return 0.5 / std::sqrt(variance); };
  all.push_back(other_norm("a norm with eps added to the root, not under it", other));
  if (problem.model.hidden < 2) return;
  const double unbiased = n / (n - 1);
  other.spread = [eps, unbiased](double variance) { return std::sqrt(unbiased * variance + eps); };
  other.slope = [unbiased, spread = other.spread](double variance) {
    return 0.5 * unbiased / spread(variance);
  };
  all.push_back(other_norm("a norm whose squares are divided by H - 1, not H", other));
}

void keep_tokens(Dense& tensor, std::int64_t tokens) {
  const std::int64_t each = element_count(tensor.shape) / tensor.shape[0];
  tensor.shape[0] = tokens;
  tensor.values.resize(static_cast<std::size_t>(tokens * each));
}

void add_to(Dense& sum, const Dense& part) {
  for (std::size_t i = 0; i < part.values.size(); ++i) sum.values[i] += part.values[i];
}

// Each token sees those up to the one after it: the answers of every query alone, over the tokens that it
// sees, add up.
Answers attention_with_next_token(const Problem& problem) {
  ModelConfig config = problem.model;
  config.causal = false;
  const Inputs all = baseline_inputs(problem);
  Answers sum = baseline::solve(Operation::attention, problem.model, all).answers;
  for (auto& [name, answer] : sum) std::fill(answer.value.values.begin(), answer.value.values.end(), 0.0);
  const std::int64_t tokens = problem.sequence;
  for (std::int64_t query = 0; query < tokens; ++query) {
    Inputs seen = all;
    Dense& dy = seen.at("dy");
    const auto each = static_cast<std::int64_t>(dy.values.size()) / tokens;
    for (std::int64_t i = 0; i < tokens * each; ++i)
      if (i / each != query) dy.values[static_cast<std::size_t>(i)] = 0;
    for (const char* name : {"x", "dy"}) keep_tokens(seen.at(name), std::min(query + 2, tokens));
    for (auto& [name, answer] : baseline::solve(Operation::attention, config, seen).answers) {
      if (name == "y")
        std::copy_n(answer.value.values.begin() + query * each, each,
                    sum.at(name).value.values.begin() + query * each);
      else
        add_to(sum.at(name).value, answer.value);
    }
  }
  return sum;
}

void add_masks(const Problem& problem, std::vector<Misreading>& all) {
  const bool quick = is_solved_quickly(problem, (problem.sequence + 1) / 2);  // half as long, on average
  if (!problem.model.causal || problem.model.dropout.attention > 0 || !quick) return;
  Misreading misreading;
  misreading.id = "causal";
  misreading.title = "a causal mask that is off by one: each token sees the one after it, too";
  misreading.instead = attention_with_next_token;
  all.push_back(std::move(misreading));
}

void add_biases(const Problem& problem, std::vector<Misreading>& all) {
  for (const InputSpec& input : problem.inputs) {
    if (input.name != "bias" && !input.name.ends_with(".bias")) continue;
    Misreading misreading;
    misreading.id = "bias";
    misreading.title = fmt::format("{} that is never added", input.name);
    misreading.inputs = [name = input.name](Inputs& inputs) {
      std::fill(inputs.at(name).values.begin(), inputs.at(name).values.end(), 0.0);
    };
    misreading.answers = [name = input.name](Answers& answers) {
      const auto gradient = answers.find("grad." + name);
      if (gradient == answers.end()) return;
      std::fill(gradient->second.value.values.begin(), gradient->second.value.values.end(), 0.0);
    };
    all.push_back(std::move(misreading));
  }
}

}  // namespace

std::vector<Misreading> misread_layers(const Problem& problem) {
  std::vector<Misreading> all;
  if (!has_input(problem, "x") || !has_input(problem, "dy")) return all;
  if (problem.asks(Operation::layer_norm) || problem.asks(Operation::rms_norm)) add_norms(problem, all);
  if (problem.asks(Operation::attention)) add_masks(problem, all);
  if (!problem.asks(Operation::transformer_layer)) add_biases(problem, all);
  return all;
}

}  // namespace tpc
