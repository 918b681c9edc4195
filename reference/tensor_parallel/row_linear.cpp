// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/row_linear.hpp"

#include "reference/tensor_parallel/local_linear.hpp"
#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/overlap.hpp"
#include "reference/tensor_parallel/regions.hpp"

namespace tpc {

RowLinear::RowLinear(const std::string& name, const Position& at, const Options& options)
    : Layer(name), tp_(at.tp()), options_(options) {
  TPC_EXPECT(options.in_features % tp_.size == 0, "{} input features of {} over {} ranks",
             options.in_features, name, tp_.size);
}

std::vector<ParameterSpec> RowLinear::parameters() const {
  const Shape weight = {options_.out_features, options_.in_features};
  std::vector<ParameterSpec> specs;
  const std::string weight_name = join(name(), "weight");
  specs.push_back({weight_name,
                   {options_.out_features, options_.in_features / tp_.size},
                   {{weight_name, shard(weight, 1, tp_)}}});
  if (options_.bias) {
    std::vector<Axis> pending;
    if (options_.sequence_parallel != SequenceParallel::off) pending.push_back(Axis::tp);
    const Shape bias = {options_.out_features};
    specs.push_back({join(name(), "bias"), bias, {{join(name(), "bias"), replicate(bias), pending}}});
  }
  return specs;
}

Tensor RowLinear::multiply(Context& ctx, const Tensor& x, const Tensor& weight) const {
  Compute& compute = ctx.compute();
  if (!overlaps(ctx))
    return leave_tp(ctx, options_.sequence_parallel, linear(compute, x, weight, join(name(), "y")));
  Shape shape = x.shape();
  shape.back() = options_.out_features;
  return reduce_scatter_in_chunks(ctx, "reduce_scatter_to_sp", shape, x.dtype(), options_.overlap_chunks,
                                  [&](const Tensor& piece, std::int64_t first) {
                                    compute.gemm(as_rows(piece), as_rows(x.rows(first, piece.size(0))),
                                                 Transpose::no, weight, Transpose::yes);
                                  });
}

RowLinear::Backward RowLinear::multiply_back(Context& ctx, const Tensor& dy, const Tensor& weight) const {
  Compute& compute = ctx.compute();
  if (!overlaps(ctx)) {
    Tensor dy_full = leave_backward(ctx, dy);
    Tensor dx = linear_backward_input(compute, dy_full, weight);
    return {std::move(dy_full), std::move(dx)};
  }
  Shape shape = dy.shape();
  shape.front() *= ctx.tp().size;
  shape.back() = weight.size(1);
  Tensor dx = compute.allocate(dy.dtype(), std::move(shape), "dx");
  Tensor dy_full =
      gather_in_chunks(ctx, "reduce_scatter_to_sp", dy, options_.overlap_chunks,
                       [&](const Tensor& full, std::int64_t first, std::int64_t count) {
                         compute.gemm(as_rows(dx.rows(first, count)), as_rows(full.rows(first, count)),
                                      Transpose::no, weight, Transpose::no);
                       });
  return {std::move(dy_full), std::move(dx)};
}

Output RowLinear::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  const SiteScope scope(ctx, name());
  const Tensor x_shard = options_.input_is_split ? x : ScatterToTp::forward(ctx, x);
  const Tensor y = multiply(ctx, x_shard, params.at(join(name(), "weight")));
  if (options_.bias) add_bias(ctx, params, y);
  Output out{y, {}};
  out.saved.keep("x", x_shard);
  return out;
}

InputGradient RowLinear::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                        Saved saved) const {
  const SiteScope scope(ctx, name());
  auto [dy_full, dx] = multiply_back(ctx, dy, params.at(join(name(), "weight")));
  Saved rest;
  rest.keep("x", saved.tensor("x"));
  rest.keep("dy", dy_full);
  if (options_.bias) rest.keep("dy of the bias", dy);
  return {options_.input_is_split ? dx : ScatterToTp::backward(ctx, dx), std::move(rest)};
}

void RowLinear::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  gradients.add(ctx.compute(), join(name(), "weight"),
                linear_backward_weight(ctx.compute(), rest.tensor("dy"), rest.tensor("x")));
  if (options_.bias)
    gradients.add(ctx.compute(), join(name(), "bias"), bias_gradient(ctx, rest.tensor("dy of the bias")));
}

void RowLinear::add_bias(Context& ctx, const Parameters& params, const Tensor& y) const {
  ctx.compute().add_rows(y, y, params.at(join(name(), "bias")));
}

Tensor RowLinear::bias_gradient(Context& ctx, const Tensor& dy) const {
  return linear_backward_bias(ctx.compute(), dy);
}

Tensor RowLinear::leave_backward(Context& ctx, const Tensor& dy) const {
  return leave_tp_backward(ctx, options_.sequence_parallel, dy);
}

}  // namespace tpc
