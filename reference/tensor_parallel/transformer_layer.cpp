// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/transformer_layer.hpp"

#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

namespace {

// y = x + branch(norm(x)); one of the two halves of a block.
Output residual_forward(Context& ctx, const Parameters& params, const Tensor& x, const Layer& norm,
                        const Layer& branch) {
  Output normed = norm.forward(ctx, params, x);
  Output branched = branch.forward(ctx, params, normed.y);
  ctx.compute().add(branched.y, branched.y, x);
  Output out{branched.y, {}};
  out.saved.keep("norm", std::move(normed.saved));
  out.saved.keep("branch", std::move(branched.saved));
  return out;
}

InputGradient residual_backward_input(Context& ctx, const Parameters& params, const Tensor& dy, Saved saved,
                                      const Layer& norm, const Layer& branch) {
  InputGradient branched = branch.backward_input(ctx, params, dy, saved.take("branch"));
  InputGradient normed = norm.backward_input(ctx, params, branched.dx, saved.take("norm"));
  ctx.compute().add(normed.dx, normed.dx, dy);
  Saved rest;
  rest.keep("norm", std::move(normed.rest));
  rest.keep("branch", std::move(branched.rest));
  return {normed.dx, std::move(rest)};
}

void residual_backward_weight(Context& ctx, Saved rest, Gradients& gradients, const Layer& norm,
                              const Layer& branch) {
  branch.backward_weight(ctx, rest.take("branch"), gradients);
  norm.backward_weight(ctx, rest.take("norm"), gradients);
}

}  // namespace

TransformerLayer::TransformerLayer(const std::string& name, const ModelConfig& config,
                                   const Sharding& sharding, int rank, int ranks)
    : Layer(name),
      norm1_(join(name, "norm1"), config, sharding.sequence_parallel),
      attention_(join(name, "attention"), config, sharding, rank, ranks),
      norm2_(join(name, "norm2"), config, sharding.sequence_parallel),
      mlp_(join(name, "mlp"), config, sharding, rank, ranks) {}

std::vector<ParameterSpec> TransformerLayer::parameters() const {
  std::vector<ParameterSpec> specs;
  for (const Layer* layer : std::initializer_list<const Layer*>{&norm1_, &attention_, &norm2_, &mlp_})
    for (ParameterSpec& spec : layer->parameters()) specs.push_back(std::move(spec));
  return specs;
}

Output TransformerLayer::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  Output first = residual_forward(ctx, params, x, norm1_, attention_);
  Output second = residual_forward(ctx, params, first.y, norm2_, mlp_);
  Output out{second.y, {}};
  out.saved.keep("attention", std::move(first.saved));
  out.saved.keep("mlp", std::move(second.saved));
  return out;
}

InputGradient TransformerLayer::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                               Saved saved) const {
  InputGradient second = residual_backward_input(ctx, params, dy, saved.take("mlp"), norm2_, mlp_);
  InputGradient first =
      residual_backward_input(ctx, params, second.dx, saved.take("attention"), norm1_, attention_);
  Saved rest;
  rest.keep("attention", std::move(first.rest));
  rest.keep("mlp", std::move(second.rest));
  return {first.dx, std::move(rest)};
}

void TransformerLayer::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  residual_backward_weight(ctx, rest.take("mlp"), gradients, norm2_, mlp_);
  residual_backward_weight(ctx, rest.take("attention"), gradients, norm1_, attention_);
}

}  // namespace tpc
