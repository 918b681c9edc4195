// SPDX-License-Identifier: Apache-2.0
// Published closed forms: floating-point operations, kept activations, overlap.
#pragma once

#include <string>
#include <string_view>

#include "reference/core/words.hpp"

namespace tpc::bench {

// The letters of Korthikanti et al., arXiv 2205.05198.
struct TransformerShape {
  double batch = 1;     // b; sequences, of a micro-batch or of all of them
  double sequence = 1;  // s
  double hidden = 1;    // h
  double heads = 1;     // a
  double layers = 1;    // L
  double vocab = 0;     // V
};

// Bytes that one layer keeps for backward on one rank of t: 16-bit activations, dropout masks of one byte.
// Appendix and table 2 of that paper; `sequence_parallel_kept` is derived from the same list of tensors.
enum class ActivationScheme {
  none,
  tensor_parallel,
  sequence_parallel,       // gathered inputs are gathered again in backward
  sequence_parallel_kept,  // and are kept
  selective,               // tensor parallel, attention core recomputed
  sequence_parallel_selective,
  full_recompute
};
constexpr auto words(ActivationScheme) {
  return spelling("none", "tensor_parallel", "sequence_parallel", "sequence_parallel_kept", "selective",
                  "sequence_parallel_selective", "full_recompute");
}
ActivationScheme activation_scheme_named(std::string_view name);  // as spelled above; throws UsageError
double activation_bytes(ActivationScheme scheme, const TransformerShape& shape, double t);
// The first of `stages` pipeline stages holds 1 + (p-1)/(p·m) of a whole network's layers' activations when
// each device has m > 1 interleaved chunks, else as many.
double first_stage_factor(double stages, double chunks);

enum class Recompute { none, selective, full };
// Floating-point operations of one forward and backward pass over `shape.batch` sequences: of the model, and
// of what the device really does with recomputation.
double model_flops(const TransformerShape& shape);
double hardware_flops(const TransformerShape& shape, Recompute recompute);

// Overlap of computation and communication, two published definitions.
// Intel MPI Benchmarks: the share of the shorter of the two that is hidden.
double overlap_of_benchmarks(double communication_s, double computation_s, double together_s);
// Flux (Chang et al., arXiv 2406.06858): share of the effective communication time (what a run takes beyond
// the best unsplit product) that overlapping removed. Negative where it hurt.
double overlap_efficiency(double separate_s, double overlapped_s, double best_product_separate_s,
                          double best_product_overlapped_s);

}  // namespace tpc::bench
