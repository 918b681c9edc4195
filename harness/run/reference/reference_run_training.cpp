// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "harness/judge/inputs/init_rule.hpp"
#include "harness/run/reference/reference_run.hpp"
#include "reference/faulty/fault.hpp"
#include "reference/model/initialisation.hpp"
#include "reference/model/transformer.hpp"
#include "reference/optimizer/clipping.hpp"
#include "reference/optimizer/gradient_norm.hpp"
#include "reference/optimizer/optimizer.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"

namespace tpc {

namespace {

std::unique_ptr<Optimizer> optimizer_of(const TrainProblem& t, DType dtype) {
  const DType states = dtype == DType::f64 ? DType::f64 : DType::f32;
  if (t.optimizer == TrainProblem::Optimizer::sgd) return make_sgd({t.lr, t.momentum}, states);
  return make_adamw({t.lr, t.beta1, t.beta2, t.eps, t.weight_decay}, states);
}

}  // namespace

void ReferenceRun::give_parameters(const std::string& prefix, const std::vector<ParameterSpec>& specs,
                                   const Parameters& params) {
  for (const ParameterSpec& spec : ctx_.parts().as_reported(ctx_.position(), specs)) {
    const Tensor& local = params.at(spec.name);
    const Tensor host = host_tensor(local.dtype(), local.shape(), spec.name);
    ctx_.compute().copy(host, local);
    for (const ParameterPart& part : spec.parts) {
      Placement placement = part.placement;
      if (spec.parts.size() > 1) placement.padding = std::nullopt;
      response_.tensors.push_back({prefix + part.canonical, host, placement});
    }
  }
}

void ReferenceRun::run_init() {
  const Transformer model(plan());
  const std::vector<ParameterSpec> specs = model.parameters();
  const auto scale =
      problem_.init.inverse_root_fan_in ? WeightScale::inverse_root_fan_in : WeightScale::fixed;
  std::vector<InitRule> rules = initialisation_rules(Operation::model, config_, {scale, problem_.init.std});
  if (problem_.init.inverse_root_fan_in && faults_.contains(Fault::spread_of_the_shards_fan))
    for (InitRule& rule : rules)
      if (rule.cut == TpCut::columns) rule.std *= std::sqrt(ctx_.tp().size);
  for (const std::string& prefix : {std::string(), repeated_name("")})
    give_parameters(prefix, specs,
                    initialise(ctx_.compute(), *streams_, specs, rules, problem_.dtype, ctx_.tp()));
}

void ReferenceRun::run_train() {
  ctx_.on_mask = nullptr;
  const TrainProblem& t = problem_.train;
  const Transformer model(plan());
  const std::vector<ParameterSpec> specs = model.parameters();
  const Parameters params = load(specs);
  const auto optimizer = optimizer_of(t, problem_.dtype);
  const Tensor losses = host_tensor(statistics_dtype(problem_.dtype), {t.steps()});
  const Tensor norms = host_tensor(DType::f64, {t.steps()});
  auto report = t.reports.begin();
  for (std::int64_t step = 0; step < t.steps(); ++step) {
    ctx_.site.step = static_cast<int>(step);
    Transformer::Loss loss = model.forward(ctx_, params, whole_input(step_name(step, "ids")),
                                           whole_input(step_name(step, "targets")));
    ctx_.compute().copy(losses.rows(step, 1), loss.mean);
    if (t.token_losses)
      give(step_name(step, "token_loss"), loss.tokens, replicate({problem_.sequence, problem_.batch}));
    Gradients gradients;
    model.backward(ctx_, params, upstream_of_loss(), std::move(loss.saved), gradients);
    if (!faults_.contains(Fault::train_step_without_finalisation)) finalise_gradients(ctx_, specs, gradients);
    const double norm = gradient_norm(ctx_, specs, gradients, t.norm);
    norms.data<double>()[step] = norm;
    if (t.max_norm > 0) clip_gradients(ctx_.compute(), gradients, norm, t.max_norm);
    optimizer->step(ctx_.compute(), params, gradients);
    if (step + 1 != *report) continue;
    give_parameters(step_name(step + 1, ""), specs, params);
    ++report;
  }
  give("loss", losses, replicate({t.steps()}));
  give("gradient_norm", norms, replicate({t.steps()}));
}

}  // namespace tpc
