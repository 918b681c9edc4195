// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/init_rule.hpp"
#include "harness/run/reference/reference_run.hpp"
#include "reference/model/initialisation.hpp"
#include "reference/training/train_step.hpp"

namespace tpc {

namespace {

std::unique_ptr<Optimizer> optimizer_of(const TrainProblem& t, DType dtype) {
  const DType states = dtype == DType::f64 ? DType::f64 : DType::f32;
  if (t.optimizer == TrainProblem::Optimizer::sgd) return make_sgd({t.lr, t.momentum}, states);
  return make_adamw({t.lr, t.beta1, t.beta2, t.eps, t.weight_decay}, states);
}

}  // namespace

void ReferenceRun::run_init() {
  const std::vector<ParameterSpec> specs = transformer(plan()).parameters();
  const auto scale =
      problem_.init.inverse_root_fan_in ? WeightScale::inverse_root_fan_in : WeightScale::fixed;
  const std::vector<InitRule> rules =
      initialisation_rules(Operation::model, config_, {scale, problem_.init.std});
  for (const std::string& prefix : {std::string(), repeated_name("")})
    give_parts(prefix, specs, initialise(ctx_.compute(), *streams_, specs, rules, problem_.dtype, plan()));
}

void ReferenceRun::run_train() {
  ctx_.on_mask = nullptr;
  const TrainProblem& t = problem_.train;
  const Stage model = transformer(plan());
  const std::vector<ParameterSpec> specs = model.parameters();
  HeldParameters params(load(specs));
  const auto optimizer = optimizer_of(t, problem_.dtype);
  const Tensor losses = host_tensor(statistics_dtype(problem_.dtype), {t.steps()});
  const Tensor norms = host_tensor(DType::f64, {t.steps()});
  auto report = t.reports.begin();
  for (std::int64_t step = 0; step < t.steps(); ++step) {
    ctx_.site.step = static_cast<int>(step);
    const Microbatch batch{tokens(step_name(step, "ids")), tokens(step_name(step, "targets"))};
    const StepResult done = train_step(ctx_, model, params, *optimizer, {batch}, upstream_of_loss(),
                                       {.norm = t.norm, .max_norm = t.max_norm});
    ctx_.compute().copy(losses.rows(step, 1), done.losses.front().y);
    norms.data<double>()[step] = done.gradient_norm;
    if (t.token_losses)
      give(step_name(step, "token_loss"), done.losses.front().tokens,
           replicate({problem_.sequence, problem_.batch}));
    if (step + 1 != *report) continue;
    give_parts(step_name(step + 1, ""), specs, params.all());
    ++report;
  }
  give("loss", losses, replicate({t.steps()}));
  give("gradient_norm", norms, replicate({t.steps()}));
}

}  // namespace tpc
