// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/gradient_norm.hpp"

#include <algorithm>
#include <cmath>

#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

namespace {

// Either the sum of |g|^p or the largest |g|; a maximum alone would lose a NaN.
struct NormTerm {
  double value = 0;
  bool nan = false;
};

void add_magnitude(NormTerm& term, double magnitude, double p) {
  if (std::isnan(magnitude)) term.nan = true;
  if (std::isinf(p))
    term.value = std::max(term.value, magnitude);
  else if (p == 2)
    term.value += magnitude * magnitude;
  else
    term.value += p == 1 ? magnitude : std::pow(magnitude, p);
}

// A part is a range of whole rows of the local tensor, of which the blocks are the ones that exist.
void add_part(NormTerm& term, const Tensor& rows, double p) {
  visit_float(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const values = rows.data<T>();
    for (std::int64_t i = 0; i < rows.count(); ++i)
      add_magnitude(term, std::abs(static_cast<double>(values[i])), p);
  });
}

double over_tp(Context& ctx, const NormTerm& term, bool largest) {
  const Tensor terms = ctx.compute().allocate(DType::f64, {2}, "gradient norm");
  terms.data<double>()[0] = term.nan ? 0 : term.value;
  terms.data<double>()[1] = term.nan ? 1 : 0;
  ctx.site.operation = "gradient_norm";
  ctx.group(Axis::tp).all_reduce(terms, terms, largest ? ReduceOp::max : ReduceOp::sum);
  return terms.data<double>()[1] > 0 ? std::nan("") : terms.data<double>()[0];
}

}  // namespace

double gradient_norm(Context& ctx, const Gradients& gradients, double p) {
  TPC_EXPECT(ctx.compute().place() == Place::host, "gradient norm on {}", name(ctx.compute().place()));
  TPC_EXPECT(p >= 1, "the {}-norm of the gradients", p);
  TPC_EXPECT(gradients.due().empty(), "the norm of gradients of which sums over {} are due",
             name(gradients.due().front().axis));
  const SiteScope phase(ctx, Phase::step);
  NormTerm term;
  for (const ParameterSpec& spec : gradients.specs())
    for (const ParameterPart& part : spec.parts)
      if (ctx.parts().counts_in_norm(ctx.position(), part))
        add_part(term, part_of(gradients.at(spec.name), part), p);
  const double total = over_tp(ctx, term, std::isinf(p));
  if (std::isinf(p) || p == 1) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace tpc
