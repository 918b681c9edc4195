// SPDX-License-Identifier: Apache-2.0
// Claim: with norms, residuals and embeddings on sequence shards, in both forms, the answers stay the same.
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

namespace {
constexpr const char* nothing_gathered = "it gathers no input, so both forms are one; see kept";
constexpr const char* whole_sequence = "the loss sees the whole sequence, which the head has gathered";
}  // namespace

Suite sequence_parallel_suite(const SuiteOptions& options) {
  Suite suite{"sequence_parallel", {}, {}};
  for (const auto& variants : {plain_variants(), further_variants(), overlap_variants()})
    for (Case& c :
         layer_cases(suite.name, variants, {SequenceParallel::kept, SequenceParallel::regathered}, options))
      suite.cases.push_back(std::move(c));
  for (const char* mode : {"kept", "regathered"})
    for (const char* operation : {"transformer_layer", "model"})
      suite.impossible.push_back({operation, mode, "exact", 0, no_exact_norm});
  for (const char* tier : {"exact", "f64", "f32", "bf16"}) {
    for (const char* operation : {"row_linear", "layer_norm", "rms_norm", "vocab_embedding"})
      suite.impossible.push_back({operation, "regathered", tier, 0, nothing_gathered});
    for (const char* mode : {"kept", "regathered"})
      suite.impossible.push_back({"vocab_cross_entropy", mode, tier, 0, whole_sequence});
  }
  return suite;
}

}  // namespace tpc
