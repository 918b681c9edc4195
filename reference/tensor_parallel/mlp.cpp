// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/mlp.hpp"

#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

namespace {

std::vector<ColumnPart> mlp_column_parts(const std::string& name, const LayerPlan& plan) {
  const auto part = [&](const char* which) { return even_part(join(name, which), plan.config.ffn, plan.at); };
  if (plan.config.mlp == MlpKind::gelu) return {part("fc1")};
  return {part("gate"), part("up")};
}

}  // namespace

Mlp::Mlp(const std::string& name, const LayerPlan& plan)
    : Layer(name),
      kind_(plan.config.mlp),
      gelu_(plan.config.gelu),
      up_(plan.parts.column_linears(mlp_column_parts(name, plan),
                                    column_options(plan, join(name, "gate_up"), plan.config.mlp_bias))),
      down_(plan.parts.row_linear(join(name, kind_ == MlpKind::gelu ? "fc2" : "down"), plan.at,
                                  {.in_features = plan.config.ffn,
                                   .out_features = plan.config.hidden,
                                   .bias = plan.config.mlp_bias,
                                   .sequence_parallel = plan.sharding.sequence_parallel,
                                   .overlap_chunks = plan.sharding.overlap_chunks})) {}

std::vector<ParameterSpec> Mlp::parameters() const {
  std::vector<ParameterSpec> specs = up_->parameters();
  for (ParameterSpec& spec : down_->parameters()) specs.push_back(std::move(spec));
  return specs;
}

Output Mlp::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  const SiteScope scope(ctx, name());
  ColumnLinears::Outputs up = up_->forward(ctx, params, x);
  const Tensor& first = up.y.front();
  const Tensor activated = ctx.compute().allocate(first.dtype(), first.shape(), join(name(), "activated"));
  if (kind_ == MlpKind::gelu)
    ctx.compute().gelu(activated, first, gelu_);
  else
    ctx.compute().swiglu(activated, first, up.y[1]);
  Output down = down_->forward(ctx, params, activated);
  Output out{down.y, {}};
  out.saved.keep(kind_ == MlpKind::gelu ? "pre_activation" : "gate", first);
  if (kind_ == MlpKind::swiglu) out.saved.keep("up", up.y[1]);
  out.saved.keep("columns", std::move(up.saved));
  out.saved.keep("rows", std::move(down.saved));
  return out;
}

InputGradient Mlp::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                  Saved saved) const {
  const SiteScope scope(ctx, name());
  InputGradient down = down_->backward_input(ctx, params, dy, saved.take("rows"));
  std::vector<Tensor> dactivated;
  if (kind_ == MlpKind::gelu) {
    ctx.compute().gelu_backward(down.dx, down.dx, saved.tensor("pre_activation"), gelu_);
    dactivated = {down.dx};
  } else {
    const Tensor dgate = ctx.compute().allocate(down.dx.dtype(), down.dx.shape(), join(name(), "dgate"));
    const Tensor dup = ctx.compute().allocate(down.dx.dtype(), down.dx.shape(), join(name(), "dup"));
    ctx.compute().swiglu_backward(dgate, dup, down.dx, saved.tensor("gate"), saved.tensor("up"));
    dactivated = {dgate, dup};
  }
  InputGradient up = up_->backward_input(ctx, params, dactivated, saved.take("columns"));
  Saved rest;
  rest.keep("columns", std::move(up.rest));
  rest.keep("rows", std::move(down.rest));
  return {up.dx, std::move(rest)};
}

void Mlp::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  down_->backward_weight(ctx, rest.take("rows"), gradients);
  up_->backward_weight(ctx, rest.take("columns"), gradients);
}

}  // namespace tpc
