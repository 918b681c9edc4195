// SPDX-License-Identifier: Apache-2.0
// Claim: a layer cut over tensor-parallel ranks computes what one device computes.
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

Suite tensor_parallel_suite(const SuiteOptions& options) {
  Suite suite{"tensor_parallel", {}, {}};
  for (const auto& variants : {plain_variants(), further_variants()})
    for (Case& c : layer_cases(suite.name, variants, {SequenceParallel::off}, options))
      suite.cases.push_back(std::move(c));
  for (const char* operation : {"transformer_layer", "model"})
    suite.impossible.push_back({operation, "off", "exact", 0, no_exact_norm});
  return suite;
}

}  // namespace tpc
