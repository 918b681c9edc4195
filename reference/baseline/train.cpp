// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/train.hpp"

#include <algorithm>
#include <cmath>

#include "reference/baseline/values.hpp"

namespace tpc::baseline {

namespace {

// ‖g‖_p over the elements of all gradients.
double norm_of_gradients(const Solution& solution, double p) {
  double sum = 0;
  double largest = 0;
  for (const auto& [name, answer] : solution.answers) {
    if (!name.starts_with("grad.")) continue;
    for (const double g : answer.value.values) {
      largest = std::max(largest, std::fabs(g));
      sum += std::isinf(p) ? 0 : std::pow(std::fabs(g), p);
    }
  }
  return std::isinf(p) ? largest : std::pow(sum, 1 / p);
}

// A parameter on its way.
struct Trained {
  Dense value;
  Values first;   // momentum, or the first moment
  Values second;  // the second moment
  double scale_norm = 0;
  double scale_max = 0;
};

void add_to_scale(Trained& parameter, double norm, double max) {
  parameter.scale_norm += norm;
  parameter.scale_max += max;
}

class Run {
 public:
  Run(const ModelConfig& config, const Inputs& parameters, const Training& training)
      : config_(config), training_(training) {
    for (const auto& [name, dense] : parameters) {
      Trained& parameter = parameters_[name];
      parameter.value = dense;
      parameter.first.resize(dense.values.size());
      parameter.second.resize(dense.values.size());
      const Scale scale(absolute(dense.values));
      if (training.rule == Training::Rule::sgd) add_to_scale(parameter, scale.norm(), scale.max());
    }
  }

  void step(const Inputs& batch) {
    ++steps_;
    Inputs inputs = batch;
    for (const auto& [name, parameter] : parameters_) inputs[name] = parameter.value;
    const Solution solution = solve(Operation::model, config_, inputs);
    const double norm = norm_of_gradients(solution, training_.norm);
    // As torch.nn.utils.clip_grad_norm_ has it.
    const double factor = training_.max_norm > 0 ? std::min(1.0, training_.max_norm / (norm + 1e-6)) : 1;
    losses_.push_back(solution.answers.at("loss"));
    norms_.push_back(norm);
    for (auto& [name, parameter] : parameters_) {
      const Answer& gradient = solution.answers.at("grad." + name);
      if (training_.rule == Training::Rule::sgd)
        move_by_sgd(parameter, gradient, factor);
      else
        move_by_adam(parameter, gradient, factor);
    }
  }

  void report(Solution& solution) const {
    const std::string prefix = "step" + std::to_string(steps_) + ".";
    for (const auto& [name, parameter] : parameters_)
      solution.answers[prefix + name] = {parameter.value, parameter.scale_norm, parameter.scale_max};
  }

  void report_course(Solution& solution) const {
    Answer& loss = solution.answers["loss"];
    Answer& norm = solution.answers["gradient_norm"];
    double squares = 0;
    for (const Answer& of_step : losses_) {
      loss.value.values.push_back(of_step.value.values.front());
      squares += of_step.scale_norm * of_step.scale_norm;
      loss.scale_max = std::max(loss.scale_max, of_step.scale_max);
    }
    loss.scale_norm = std::sqrt(squares);
    norm.value.values = norms_;
    const Scale scale(norms_);
    norm.scale_norm = scale.norm();
    norm.scale_max = scale.max();
    loss.value.shape = norm.value.shape = {steps_};
  }

  std::int64_t steps() const { return steps_; }

 private:
  void move_by_sgd(Trained& parameter, const Answer& gradient, double factor) const {
    for (std::size_t i = 0; i < parameter.first.size(); ++i) {
      const double velocity = training_.momentum * parameter.first[i] + factor * gradient.value.values[i];
      parameter.first[i] = velocity;
      parameter.value.values[i] -= training_.lr * velocity;
    }
    // A velocity is a sum of past gradients, each of which counts 1/(1-momentum) times at most.
    const double reach = training_.lr * factor / (1 - training_.momentum);
    add_to_scale(parameter, reach * gradient.scale_norm, reach * gradient.scale_max);
  }

  void move_by_adam(Trained& parameter, const Answer& gradient, double factor) const {
    const bool decoupled = training_.rule == Training::Rule::adamw;
    const bool decays = parameter.value.shape.size() >= training_.decays_from_dims;
    const double decay = decays ? training_.weight_decay : 0;
    const double bias1 = 1 - std::pow(training_.beta1, static_cast<double>(steps_));
    const double bias2 = 1 - std::pow(training_.beta2, static_cast<double>(steps_));
    for (std::size_t i = 0; i < parameter.first.size(); ++i) {
      double g = factor * gradient.value.values[i];
      double& m = parameter.first[i];
      double& v = parameter.second[i];
      double& value = parameter.value.values[i];
      if (decoupled)
        value -= training_.lr * decay * value;
      else
        g += decay * value;
      m = training_.beta1 * m + (1 - training_.beta1) * g;
      v = training_.beta2 * v + (1 - training_.beta2) * g * g;
      value -= training_.lr * (m / bias1) / (std::sqrt(v / bias2) + training_.eps);
    }
    parameter.scale_max = training_.lr;
    parameter.scale_norm = training_.lr * std::sqrt(static_cast<double>(parameter.first.size()));
  }

  const ModelConfig& config_;
  const Training& training_;
  std::map<std::string, Trained> parameters_;
  std::vector<Answer> losses_;
  Values norms_;
  std::int64_t steps_ = 0;
};

}  // namespace

Solution train(const ModelConfig& config, const Inputs& parameters, const Training& training,
               const Batches& batches) {
  const std::vector<std::int64_t>& reports = training.reports;
  TPC_EXPECT(!reports.empty() && reports.front() > 0 && std::is_sorted(reports.begin(), reports.end()),
             "a training run that answers nothing, or in no order");
  Solution solution;
  Run run(config, parameters, training);
  for (const std::int64_t report : reports) {
    while (run.steps() < report) run.step(batches(run.steps()));
    run.report(solution);
  }
  run.report_course(solution);
  return solution;
}

}  // namespace tpc::baseline
