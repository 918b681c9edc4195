// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/row_first_mlp.hpp"

#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

RowFirstMlp::RowFirstMlp(const std::string& name, const LayerPlan& plan)
    : Layer(name),
      gelu_(plan.config.gelu),
      fc1_(plan.parts.row_linear(join(name, "fc1"), plan.at,
                                 {.in_features = plan.config.hidden,
                                  .out_features = plan.config.ffn,
                                  .bias = plan.config.mlp_bias,
                                  .input_is_split = false})),
      fc2_(plan.parts.column_linear(even_part(join(name, "fc2"), plan.config.hidden, plan.at),
                                    {.in_features = plan.config.ffn, .bias = plan.config.mlp_bias},
                                    ColumnLinear::Result::gathered)) {}

std::vector<ParameterSpec> RowFirstMlp::parameters() const {
  std::vector<ParameterSpec> specs = fc1_->parameters();
  for (ParameterSpec& spec : fc2_->parameters()) specs.push_back(std::move(spec));
  return specs;
}

Output RowFirstMlp::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  Output rows = fc1_->forward(ctx, params, x);
  const Tensor activated = ctx.compute().allocate(x.dtype(), rows.y.shape(), join(name(), "activated"));
  ctx.compute().gelu(activated, rows.y, gelu_);
  Output columns = fc2_->forward(ctx, params, activated);
  Output out{columns.y, {}};
  out.saved.keep("pre_activation", rows.y);
  out.saved.keep("rows", std::move(rows.saved));
  out.saved.keep("columns", std::move(columns.saved));
  return out;
}

InputGradient RowFirstMlp::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                          Saved saved) const {
  InputGradient columns = fc2_->backward_input(ctx, params, dy, saved.take("columns"));
  ctx.compute().gelu_backward(columns.dx, columns.dx, saved.tensor("pre_activation"), gelu_);
  InputGradient rows = fc1_->backward_input(ctx, params, columns.dx, saved.take("rows"));
  Saved rest;
  rest.keep("columns", std::move(columns.rest));
  rest.keep("rows", std::move(rows.rest));
  return {rows.dx, std::move(rest)};
}

void RowFirstMlp::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  fc2_->backward_weight(ctx, rest.take("columns"), gradients);
  fc1_->backward_weight(ctx, rest.take("rows"), gradients);
}

}  // namespace tpc
