// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/transformer_layer.hpp"

#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

TransformerLayer::TransformerLayer(const std::string& name, const LayerPlan& plan)
    : Layer(name),
      sp_(plan.sharding.sequence_parallel),
      norm1_(join(name, "norm1"), plan.config, sp_),
      attention_(join(name, "attention"), plan),
      attention_dropout_(plan.parts.dropout(join(name, "attention"), DropoutSite::attention_output,
                                            plan.config.dropout.hidden)),
      norm2_(join(name, "norm2"), plan.config, sp_),
      mlp_(join(name, "mlp"), plan),
      mlp_dropout_(
          plan.parts.dropout(join(name, "mlp"), DropoutSite::mlp_output, plan.config.dropout.hidden)) {}

std::vector<ParameterSpec> TransformerLayer::parameters() const {
  std::vector<ParameterSpec> specs;
  for (const Layer* layer : std::initializer_list<const Layer*>{&norm1_, &attention_, &norm2_, &mlp_})
    for (ParameterSpec& spec : layer->parameters()) specs.push_back(std::move(spec));
  return specs;
}

Output TransformerLayer::forward_half(Context& ctx, const Parameters& params, const Tensor& x,
                                      const Half& half) const {
  Output normed = half.norm.forward(ctx, params, x);
  Output branched = half.branch.forward(ctx, params, normed.y);
  Output out{branched.y, {}};
  if (half.dropout.active(ctx)) {
    Dropout::Dropped dropped = half.dropout.forward(ctx, branched.y, token_draws(ctx, sp_, branched.y));
    out.y = dropped.y;
    out.saved.keep("mask", dropped.mask);
  }
  add_residual(ctx, out.y, x);
  out.saved.keep("norm", std::move(normed.saved));
  out.saved.keep("branch", std::move(branched.saved));
  return out;
}

void TransformerLayer::add_residual(Context& ctx, const Tensor& y, const Tensor& x) const {
  ctx.compute().add(y, y, x);
}

InputGradient TransformerLayer::backward_half(Context& ctx, const Parameters& params, const Tensor& dy,
                                              Saved saved, const Half& half) const {
  Tensor dbranch = dy;
  if (saved.has("mask")) {
    dbranch = ctx.compute().allocate(dy.dtype(), dy.shape(), "dbranch");
    half.dropout.backward(ctx, dbranch, dy, saved.tensor("mask"));
  }
  InputGradient branched = half.branch.backward_input(ctx, params, dbranch, saved.take("branch"));
  InputGradient normed = half.norm.backward_input(ctx, params, branched.dx, saved.take("norm"));
  ctx.compute().add(normed.dx, normed.dx, dy);
  Saved rest;
  rest.keep("norm", std::move(normed.rest));
  rest.keep("branch", std::move(branched.rest));
  return {normed.dx, std::move(rest)};
}

Output TransformerLayer::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  Output attended = forward_half(ctx, params, x, first());
  Output out = forward_half(ctx, params, attended.y, second());
  Saved saved;
  saved.keep("attention", std::move(attended.saved));
  saved.keep("mlp", std::move(out.saved));
  return {out.y, std::move(saved)};
}

InputGradient TransformerLayer::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                               Saved saved) const {
  InputGradient mlp = backward_half(ctx, params, dy, saved.take("mlp"), second());
  InputGradient attention = backward_half(ctx, params, mlp.dx, saved.take("attention"), first());
  Saved rest;
  rest.keep("attention", std::move(attention.rest));
  rest.keep("mlp", std::move(mlp.rest));
  return {attention.dx, std::move(rest)};
}

void TransformerLayer::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  for (const auto& [name, half] : {std::pair{"mlp", second()}, std::pair{"attention", first()}}) {
    Saved part = rest.take(name);
    half.branch.backward_weight(ctx, part.take("branch"), gradients);
    half.norm.backward_weight(ctx, part.take("norm"), gradients);
  }
}

}  // namespace tpc
