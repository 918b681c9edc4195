// SPDX-License-Identifier: Apache-2.0
// Claim: the cross entropy of vocabulary shards equals that of the gathered logits, without gathering them.
#include "suites/layer_cases.hpp"
#include "suites/suites.hpp"

namespace tpc {

Suite loss_parallel_suite(const SuiteOptions& options) {
  return {
      "loss_parallel", layer_cases("loss_parallel", loss_variants(), {SequenceParallel::off}, options), {}};
}

}  // namespace tpc
