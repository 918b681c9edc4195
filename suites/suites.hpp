// SPDX-License-Identifier: Apache-2.0
// All the suites there are. Each is a page of cases in a folder of its own.
#pragma once

#include <vector>

#include "harness/values/suite.hpp"

namespace tpc {

Suite collectives_suite(const SuiteOptions& options);
Suite mesh_suite(const SuiteOptions& options);
Suite tensor_parallel_suite(const SuiteOptions& options);
Suite sequence_parallel_suite(const SuiteOptions& options);
Suite loss_parallel_suite(const SuiteOptions& options);
Suite invalid_suite(const SuiteOptions& options);
Suite volume_suite(const SuiteOptions& options);
Suite memory_suite(const SuiteOptions& options);
Suite dropout_suite(const SuiteOptions& options);
Suite init_suite(const SuiteOptions& options);
Suite train_suite(const SuiteOptions& options);
Suite models_suite(const SuiteOptions& options);
Suite random_suite(const SuiteOptions& options);

// In the order in which they run. Throws UsageError where the options ask for what cannot be.
std::vector<Suite> all_suites(const SuiteOptions& options);

}  // namespace tpc
