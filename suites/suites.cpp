// SPDX-License-Identifier: Apache-2.0
#include "suites/suites.hpp"

namespace tpc {

// A suite is listed here from the day on which it exists.
std::vector<Suite> all_suites(const SuiteOptions& options) {
  using MakeSuite = Suite (*)(const SuiteOptions&);
  if (options.random > 0 || !options.configuration.empty()) return {random_suite(options)};
  if (options.model) return {models_suite(options)};
  const std::vector<MakeSuite> makers = {
      collectives_suite,       mesh_suite,          invalid_suite, tensor_parallel_suite,
      sequence_parallel_suite, loss_parallel_suite, volume_suite,  memory_suite,
      dropout_suite,           init_suite,          train_suite,   models_suite};
  std::vector<Suite> suites;
  for (const MakeSuite make : makers) suites.push_back(make(options));
  return suites;
}

}  // namespace tpc
