// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/formulas.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "reference/core/contract.hpp"

namespace tpc::bench {

ActivationScheme activation_scheme_named(std::string_view name) {
  if (const auto scheme = named<ActivationScheme>(name)) return *scheme;
  throw UsageError(fmt::format("unknown activation scheme '{}'", name));
}

double activation_bytes(ActivationScheme scheme, const TransformerShape& shape, double t) {
  const double sbh = shape.sequence * shape.batch * shape.hidden;
  const double core = 5 * shape.heads * shape.sequence / shape.hidden;  // scores, softmax, its dropout
  switch (scheme) {
    case ActivationScheme::none:
      return sbh * (34 + core);
    case ActivationScheme::tensor_parallel:
      return sbh * (10 + 24 / t + core / t);
    case ActivationScheme::sequence_parallel:
      return sbh * (34 / t + core / t);
    case ActivationScheme::sequence_parallel_kept:
      return sbh * (4 + 30 / t + core / t);
    case ActivationScheme::selective:
      return sbh * (10 + 24 / t);
    case ActivationScheme::sequence_parallel_selective:
      return sbh * 34 / t;
    case ActivationScheme::full_recompute:
      return sbh * 2;
  }
  return 0;
}

double first_stage_factor(double stages, double chunks) {
  return chunks > 1 ? 1 + (stages - 1) / (stages * chunks) : 1;
}

namespace {

double transformer_flops(const TransformerShape& x, double passes, double attention, double head) {
  return passes * 24 * x.batch * x.layers * x.sequence * x.hidden * x.hidden *
         (1 + attention * x.sequence / (6 * x.hidden) + head * x.vocab / (12 * x.hidden * x.layers));
}

}  // namespace

// Backward costs twice the forward. With selective recomputation the paper doubles the attention term (its
// equation 9), although only the forward part of it, a third, is done again; its figures are made that way.
double model_flops(const TransformerShape& shape) { return transformer_flops(shape, 3, 1, 1); }

double hardware_flops(const TransformerShape& shape, Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return model_flops(shape);
    case Recompute::selective:
      return transformer_flops(shape, 3, 2, 1);
    case Recompute::full:
      return transformer_flops(shape, 4, 1, 0.75);
  }
  return 0;
}

double overlap_of_benchmarks(double communication_s, double computation_s, double together_s) {
  const double hidden = communication_s + computation_s - together_s;
  return std::clamp(hidden / std::min(communication_s, computation_s), 0.0, 1.0);
}

double overlap_efficiency(double separate_s, double overlapped_s, double best_product_separate_s,
                          double best_product_overlapped_s) {
  return 1 - (overlapped_s - best_product_overlapped_s) / (separate_s - best_product_separate_s);
}

}  // namespace tpc::bench
