// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misreadings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/explain/configuration/relevance.hpp"
#include "harness/explain/misreadings/misread_blocks.hpp"
#include "harness/explain/misreadings/misread_layers.hpp"
#include "harness/explain/misreadings/misread_losses.hpp"
#include "harness/explain/misreadings/misread_training.hpp"
#include "harness/explain/misreadings/misread_weights.hpp"
#include "harness/judge/baselines/baseline_inputs.hpp"

namespace tpc {

namespace {

// Multiplications; the baseline makes some hundred million of them in a second, and is asked a dozen times.
constexpr double most_work = 1e8;

double work_of(const Problem& problem) {
  double elements = 0;
  for (const InputSpec& input : problem.inputs) elements += static_cast<double>(element_count(input.shape));
  const auto tokens = static_cast<double>(problem.batch * problem.sequence);
  const std::int64_t steps = problem.asks(Operation::train) ? problem.train.steps() : 1;
  return elements * tokens * 3 * static_cast<double>(steps);
}

void add_activations(const Configuration& c, std::vector<Misreading>& all) {
  if (!relevance::has_mlp(c) || c.problem.model.mlp != MlpKind::gelu) return;
  const bool erf = c.problem.model.gelu == GeluForm::erf;
  all.push_back({"gelu", fmt::format("gelu {} where {} is asked", erf ? "tanh" : "erf", erf ? "erf" : "tanh"),
                 [erf](ModelConfig& m) { m.gelu = erf ? GeluForm::tanh : GeluForm::erf; }});
}

void add_scales(const Configuration& c, int ranks, std::vector<Misreading>& all) {
  const double asked = attention_scale(c.problem.model);
  const auto d = static_cast<double>(c.problem.model.head_dim);
  const auto h = static_cast<double>(c.problem.model.hidden);
  const auto t = static_cast<double>(ranks);
  const std::vector<std::pair<std::string, double>> scales = {
      {"none", 1},
      {"1/sqrt D, of a head's width", 1 / std::sqrt(d)},
      {"sqrt T/sqrt D, of the part of a head's width that one rank has of T", std::sqrt(t / d)},
      {"1/D instead of its root", 1 / d},
      {"1/sqrt H, of the hidden width", 1 / std::sqrt(h)},
      {"sqrt T/sqrt H, of the shard's hidden width", std::sqrt(t / h)},
      {"the square of what is asked: it is applied twice", asked * asked},
  };
  std::vector<std::pair<std::string, double>> different;  // one number may have several reasons
  for (const auto& [name, scale] : scales) {
    const auto is_same = [scale = scale](double other) { return std::fabs(scale - other) < 1e-9 * other; };
    const auto known = std::find_if(different.begin(), different.end(),
                                    [&](const auto& other) { return is_same(other.second); });
    if (known != different.end())
      known->first += "; " + name;
    else if (!is_same(asked))
      different.emplace_back(name, scale);
  }
  for (const auto& [name, scale] : different)
    all.push_back({"attention_scale",
                   fmt::format("an attention scale of {:.6g} ({}) where {:.6g} is asked", scale, name, asked),
                   [scale = scale](ModelConfig& m) { m.attention_scale = scale; }});
}

void add_attention(const Configuration& c, int ranks, std::vector<Misreading>& all) {
  if (!relevance::has_attention(c)) return;
  const ModelConfig& model = c.problem.model;
  add_scales(c, ranks, all);
  all.push_back({"causal",
                 model.causal ? "no causal mask where one is asked" : "a causal mask that nobody asked for",
                 [](ModelConfig& m) { m.causal = !m.causal; }});
  if (model.position != PositionKind::rotary) return;
  const bool halves = model.rotary == RotaryForm::halves;
  all.push_back(
      {"rotary",
       fmt::format("rotary positions in {} where {} are asked", halves ? "neighbouring pairs" : "halves",
                   halves ? "halves" : "neighbouring pairs"),
       [halves](ModelConfig& m) { m.rotary = halves ? RotaryForm::interleaved : RotaryForm::halves; }});
  all.push_back({"position", "no rotary positions", [](ModelConfig& m) { m.position = PositionKind::none; }});
  for (const double theta : {10000.0, 500000.0, 1000000.0})
    if (theta != model.rotary_theta)
      all.push_back({"rotary_theta",
                     fmt::format("a rotary theta of {:g} where {:g} is asked", theta, model.rotary_theta),
                     [theta](ModelConfig& m) { m.rotary_theta = theta; }});
  if (!model.rotary_scaling) return;
  all.push_back({"rotary_scaling", "rotary frequencies that are not scaled",
                 [](ModelConfig& m) { m.rotary_scaling.reset(); }});
  all.push_back({"rotary_scaling",
                 "rotary frequencies that are all divided by the factor, as linear scaling of positions does",
                 [](ModelConfig& m) {
                   m.rotary_scaling->low_frequency_factor = 1e17;
                   m.rotary_scaling->high_frequency_factor = 1e18;
                 }});
}

void add_norms(const Configuration& c, std::vector<Misreading>& all) {
  if (!relevance::has_norm(c)) return;
  for (const double eps : {0.0, 1e-12, 1e-8, 1e-6, 1e-5})
    if (eps != c.problem.model.norm_eps)
      all.push_back({"norm_eps",
                     fmt::format("a norm eps of {:g} where {:g} is asked", eps, c.problem.model.norm_eps),
                     [eps](ModelConfig& m) { m.norm_eps = eps; }});
}

void add_losses(const Configuration& c, std::vector<Misreading>& all) {
  if (!relevance::has_loss(c)) return;
  const LossDefinition& loss = c.problem.model.loss;
  const bool valid = loss.mean_over == LossMean::valid_tokens;
  all.push_back({"mean_over",
                 valid ? "the mean of the loss over all tokens where those with a target are asked"
                       : "the mean of the loss over the tokens with a target where all are asked",
                 [valid](ModelConfig& m) {
                   m.loss.mean_over = valid ? LossMean::all_tokens : LossMean::valid_tokens;
                 }});
  if (loss.z_loss != 0) all.push_back({"z_loss", "no z-loss", [](ModelConfig& m) { m.loss.z_loss = 0; }});
  if (loss.label_smoothing == 0) return;
  const bool over_all = loss.smoothing_over == SmoothingOver::all_classes;
  all.push_back(
      {"label_smoothing", "no label smoothing", [](ModelConfig& m) { m.loss.label_smoothing = 0; }});
  all.push_back({"smoothing_over",
                 fmt::format("labels smoothed over {} classes where {} are asked",
                             over_all ? "the other" : "all", over_all ? "all" : "the others"),
                 [over_all](ModelConfig& m) {
                   m.loss.smoothing_over =
                       over_all ? SmoothingOver::other_classes : SmoothingOver::all_classes;
                 }});
}

bool is_solved_at_once(const Request& request) {
  const Problem& problem = request.problem;
  if (!problem.is_operation() || !is_solved_quickly(problem)) return false;
  const bool draws = problem.asks(Operation::dropout) || problem.asks(Operation::init) ||
                     (problem.model.dropout != DropoutRates{} && problem.random.profile != "invariant");
  return !draws;
}

}  // namespace

bool is_solved_quickly(const Problem& problem, std::int64_t times) {
  return work_of(problem) * static_cast<double>(times) <= most_work;
}

std::vector<Misreading> misreadings_of(const Request& request) {
  std::vector<Misreading> all;
  if (!is_solved_at_once(request)) return all;
  if (request.problem.asks(Operation::train)) return misread_training(request.problem.train);
  Configuration c;
  c.problem = request.problem;
  add_activations(c, all);
  add_attention(c, request.mesh.ranks(), all);
  add_norms(c, all);
  add_losses(c, all);
  for (const auto& others : {misread_weights(request), misread_layers(request.problem),
                             misread_losses(request), misread_blocks(request.problem)})
    all.insert(all.end(), others.begin(), others.end());
  return all;
}

Answers solve_as_read(const Request& request, const Misreading& misreading) {
  if (misreading.instead) return misreading.instead(request.problem);
  if (request.problem.asks(Operation::train)) {
    baseline::Training training = training_of(request.problem.train);
    misreading.training(training);
    return solve_training(request.problem, training).answers;
  }
  ModelConfig model = request.problem.model;
  misreading.model(model);
  baseline::Inputs inputs = baseline_inputs(request.problem);
  misreading.inputs(inputs);
  Answers answers = baseline::solve(request.problem.operation(), model, inputs).answers;
  misreading.answers(answers);
  return answers;
}

}  // namespace tpc
