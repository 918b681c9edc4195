// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/norm.hpp"

#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

Norm::Norm(const std::string& name, const ModelConfig& config, SequenceParallel sp)
    : Layer(name), kind_(config.norm), hidden_(config.hidden), eps_(config.norm_eps), sp_(sp) {}

std::vector<ParameterSpec> Norm::parameters() const {
  std::vector<Axis> pending;
  if (sp_ != SequenceParallel::off) pending.push_back(Axis::tp);
  const Shape shape = {hidden_};
  std::vector<ParameterSpec> specs;
  specs.push_back({join(name(), "gain"), shape, {{join(name(), "gain"), replicate(shape), pending}}});
  if (centred())
    specs.push_back({join(name(), "bias"), shape, {{join(name(), "bias"), replicate(shape), pending}}});
  return specs;
}

Output Norm::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  Compute& compute = ctx.compute();
  const DType stats = statistics_dtype(x.dtype());
  const std::int64_t rows = x.count() / hidden_;
  const Tensor y = compute.allocate(x.dtype(), x.shape(), join(name(), "y"));
  const Tensor rstd = compute.allocate(stats, {rows}, join(name(), "rstd"));
  Output out{y, {}};
  if (centred()) {
    const Tensor mean = compute.allocate(stats, {rows}, join(name(), "mean"));
    compute.layer_norm(y, mean, rstd, x, params.at(join(name(), "gain")), params.at(join(name(), "bias")),
                       eps_);
    out.saved.keep("statistics.mean", mean);
  } else {
    compute.rms_norm(y, rstd, x, params.at(join(name(), "gain")), eps_);
  }
  out.saved.keep("x", x);
  out.saved.keep("statistics.rstd", rstd);
  return out;
}

// One pass over the rows yields all three gradients, so the weight's are made here and handed on.
InputGradient Norm::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                   Saved saved) const {
  Compute& compute = ctx.compute();
  const Tensor& x = saved.tensor("x");
  const Tensor& gain = params.at(join(name(), "gain"));
  const Tensor dx = compute.allocate(x.dtype(), x.shape(), join(name(), "dx"));
  const Tensor dgain = compute.allocate(x.dtype(), {hidden_}, join(name(), "dgain"));
  Saved rest;
  if (centred()) {
    const Tensor dbias = compute.allocate(x.dtype(), {hidden_}, join(name(), "dbias"));
    compute.layer_norm_backward(dx, dgain, dbias, dy, x, saved.tensor("statistics.mean"),
                                saved.tensor("statistics.rstd"), gain);
    rest.keep("dbias", dbias);
  } else {
    compute.rms_norm_backward(dx, dgain, dy, x, saved.tensor("statistics.rstd"), gain);
  }
  rest.keep("dgain", dgain);
  return {dx, std::move(rest)};
}

void Norm::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  gradients.add(ctx.compute(), join(name(), "gain"), rest.tensor("dgain"));
  if (centred()) gradients.add(ctx.compute(), join(name(), "bias"), rest.tensor("dbias"));
}

}  // namespace tpc
