// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/column_linear.hpp"

#include "reference/tensor_parallel/local_linear.hpp"
#include "reference/tensor_parallel/naming.hpp"
#include "reference/tensor_parallel/overlap.hpp"
#include "reference/tensor_parallel/parts.hpp"
#include "reference/tensor_parallel/regions.hpp"

namespace tpc {

ColumnPart even_part(const std::string& name, std::int64_t rows, const Position& at) {
  const auto [rank, ranks] = at.tp();
  TPC_EXPECT(rows % ranks == 0, "{} rows of {} over {} ranks", rows, name, ranks);
  return {name, rows, rows / ranks * rank, rows / ranks};
}

ColumnLinears::ColumnLinears(std::vector<ColumnPart> parts, Options options) : options_(std::move(options)) {
  TPC_EXPECT(options_.entry == Entry::shared ||
                 (!options_.fused && options_.sequence_parallel == SequenceParallel::off),
             "column linears with entries of their own have separate weights and no sequence parallelism");
  if (options_.fused) {
    const std::string name = parts.size() == 1 ? parts.front().name : options_.fused_name;
    std::int64_t rows = 0;
    for (const ColumnPart& part : parts) rows += part.width;
    weights_.push_back({name, std::move(parts), rows});
  } else {
    for (ColumnPart& part : parts) {
      const std::int64_t rows = part.width;
      const std::string name = part.name;
      weights_.push_back({name, {std::move(part)}, rows});
    }
  }
}

std::vector<ParameterSpec> ColumnLinears::parameters() const {
  std::vector<ParameterSpec> specs;
  for (const char* kind : {"weight", "bias"}) {
    const bool is_weight = std::string(kind) == "weight";
    if (!is_weight && !options_.bias) continue;
    for (const LocalWeight& weight : weights_) {
      ParameterSpec spec{join(weight.name, kind), {weight.rows}, {}};
      if (is_weight) spec.shape.push_back(options_.in_features);
      std::int64_t local_row = 0;
      for (const ColumnPart& part : weight.parts) {
        const Shape global = is_weight ? Shape{part.rows, options_.in_features} : Shape{part.rows};
        Placement placement = padded_rows(global, 0, part.first, part.width);
        for (Block& block : placement.blocks) block.local_offset[0] += local_row;
        ParameterPart& added =
            spec.parts.emplace_back(ParameterPart{join(part.name, kind), std::move(placement)});
        added.copies = part.copies;
        if (part.copies > 1) added.gradient_pending_over = {Axis::kv_copies};
        local_row += part.width;
      }
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

std::vector<Tensor> ColumnLinears::split(Compute& compute, const LocalWeight& weight, const Tensor& y) const {
  if (weight.parts.size() == 1) return {y};
  std::vector<Tensor> parts;
  Shape from(y.shape().size(), 0);
  for (const ColumnPart& part : weight.parts) {
    Shape extent = y.shape();
    extent.back() = part.width;
    const Tensor piece = compute.allocate(y.dtype(), extent, join(part.name, "y"));
    compute.copy_block(piece, Shape(extent.size(), 0), y, from, extent);
    from.back() += part.width;
    parts.push_back(piece);
  }
  return parts;
}

Tensor ColumnLinears::join_parts(Compute& compute, const LocalWeight& weight, const Tensor* dy) const {
  if (weight.parts.size() == 1) return *dy;
  Shape shape = dy->shape();
  shape.back() = weight.rows;
  Tensor joined = compute.allocate(dy->dtype(), std::move(shape), join(weight.name, "dy"));
  Shape to(joined.shape().size(), 0);
  for (std::size_t i = 0; i < weight.parts.size(); ++i) {
    compute.copy_block(joined, to, dy[i], Shape(to.size(), 0), dy[i].shape());
    to.back() += dy[i].size(-1);
  }
  return joined;
}

bool ColumnLinears::gathers_again(const Context& /*ctx*/) const {
  return options_.sequence_parallel == SequenceParallel::regathered;
}

Tensor ColumnLinears::multiply(Context& ctx, const Parameters& params, const Tensor& x,
                               std::vector<Tensor>& y) const {
  Compute& compute = ctx.compute();
  if (!overlaps(ctx)) {
    Tensor full = enter_tp(ctx, options_.sequence_parallel, x);
    for (const LocalWeight& weight : weights_)
      y.push_back(linear(compute, full, params.at(join(weight.name, "weight")), join(weight.name, "y")));
    return full;
  }
  for (const LocalWeight& weight : weights_) {
    Shape shape = x.shape();
    shape.front() *= ctx.tp().size;
    shape.back() = weight.rows;
    y.push_back(compute.allocate(x.dtype(), std::move(shape), join(weight.name, "y")));
  }
  const auto use = [&](const Tensor& full, std::int64_t first, std::int64_t count) {
    for (std::size_t i = 0; i < weights_.size(); ++i)
      compute.gemm(as_rows(y[i].rows(first, count)), as_rows(full.rows(first, count)), Transpose::no,
                   params.at(join(weights_[i].name, "weight")), Transpose::yes);
  };
  return gather_in_chunks(ctx, "gather_from_sp", x, options_.overlap_chunks, use);
}

ColumnLinears::Outputs ColumnLinears::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  Outputs out;
  std::vector<Tensor> products;
  const Tensor full = multiply(ctx, params, x, products);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Tensor& y = products[i];
    if (options_.bias) ctx.compute().add_rows(y, y, params.at(join(weights_[i].name, "bias")));
    for (Tensor& part : split(ctx.compute(), weights_[i], y)) out.y.push_back(std::move(part));
  }
  out.saved.keep("x", gathers_again(ctx) ? x : full);
  return out;
}

InputGradient ColumnLinears::backward_input(Context& ctx, const Parameters& params,
                                            const std::vector<Tensor>& dy, Saved saved) const {
  Saved rest;
  rest.keep("x", gathers_again(ctx) ? GatherFromSp::forward(ctx, saved.tensor("x")) : saved.tensor("x"));
  std::vector<Tensor> joined;
  std::size_t first = 0;
  for (const LocalWeight& weight : weights_) {
    joined.push_back(join_parts(ctx.compute(), weight, &dy.at(first)));
    first += weight.parts.size();
    rest.keep(join(weight.name, "dy"), joined.back());
  }
  return {multiply_back(ctx, params, joined), std::move(rest)};
}

Tensor ColumnLinears::multiply_back(Context& ctx, const Parameters& params,
                                    const std::vector<Tensor>& joined) const {
  Compute& compute = ctx.compute();
  const auto weight = [&](std::size_t i) { return params.at(join(weights_[i].name, "weight")); };
  if (overlaps(ctx)) {
    const auto make = [&](const Tensor& piece, std::int64_t first) {
      for (std::size_t i = 0; i < joined.size(); ++i)
        compute.gemm(as_rows(piece), as_rows(joined[i].rows(first, piece.size(0))), Transpose::no, weight(i),
                     Transpose::no, i > 0);
    };
    Shape shape = joined.front().shape();
    shape.back() = options_.in_features;
    return reduce_scatter_in_chunks(ctx, "gather_from_sp", shape, joined.front().dtype(),
                                    options_.overlap_chunks, make);
  }
  if (options_.entry == Entry::own) {
    Tensor dx;
    for (std::size_t i = 0; i < joined.size(); ++i) {
      Tensor own =
          enter_tp_backward(ctx, SequenceParallel::off, linear_backward_input(compute, joined[i], weight(i)));
      if (dx) compute.add(own, own, dx);
      dx = std::move(own);
    }
    return dx;
  }
  // Summed before the region is left, so that the parts cost one collective together.
  const Tensor dx = linear_backward_input(compute, joined.front(), weight(0));
  for (std::size_t i = 1; i < joined.size(); ++i)
    compute.gemm(as_rows(dx), as_rows(joined[i]), Transpose::no, weight(i), Transpose::no, true);
  return enter_tp_backward(ctx, options_.sequence_parallel, dx);
}

void ColumnLinears::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  for (const LocalWeight& weight : weights_) {
    const Tensor& dy = rest.tensor(join(weight.name, "dy"));
    gradients.add(ctx.compute(), join(weight.name, "weight"),
                  linear_backward_weight(ctx.compute(), dy, rest.tensor("x")));
    if (options_.bias)
      gradients.add(ctx.compute(), join(weight.name, "bias"), linear_backward_bias(ctx.compute(), dy));
  }
}

ColumnLinears::Options column_options(const LayerPlan& plan, const std::string& fused_name, bool bias) {
  const Sharding& sharding = plan.sharding;
  return {.fused_name = fused_name,
          .in_features = plan.config.hidden,
          .bias = bias,
          .fused = sharding.fused,
          .sequence_parallel = sharding.sequence_parallel,
          .entry = sharding.own_entries ? ColumnLinears::Entry::own : ColumnLinears::Entry::shared,
          .overlap_chunks = sharding.overlap_chunks};
}

ColumnLinear::ColumnLinear(const ColumnPart& part, std::unique_ptr<ColumnLinears> linears, Result result)
    : Layer(part.name), linears_(std::move(linears)), result_(result) {}

Tensor ColumnLinear::leave_backward(Context& ctx, const Tensor& dy) const {
  return result_ == Result::gathered ? GatherFromTp::backward(ctx, dy) : dy;
}

Output ColumnLinear::forward(Context& ctx, const Parameters& params, const Tensor& x) const {
  const SiteScope scope(ctx, name());
  ColumnLinears::Outputs out = linears_->forward(ctx, params, x);
  const Tensor& y = out.y.front();
  return {result_ == Result::gathered ? GatherFromTp::forward(ctx, y) : y, std::move(out.saved)};
}

InputGradient ColumnLinear::backward_input(Context& ctx, const Parameters& params, const Tensor& dy,
                                           Saved saved) const {
  const SiteScope scope(ctx, name());
  return linears_->backward_input(ctx, params, {leave_backward(ctx, dy)}, std::move(saved));
}

void ColumnLinear::backward_weight(Context& ctx, Saved rest, Gradients& gradients) const {
  const SiteScope scope(ctx, name());
  linears_->backward_weight(ctx, std::move(rest), gradients);
}

}  // namespace tpc
