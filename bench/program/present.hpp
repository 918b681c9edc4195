// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/campaign/plausible.hpp"
#include "bench/program/options.hpp"
#include "bench/report/outputs.hpp"

namespace tpc::bench {

Limits limits_of(const BenchOptions& options);

// Prints the tables and writes the files. The code of what was measured: 1 where a result was wrong, else 0.
int present(const BenchOptions& options, const Results& results, const Outputs& outputs);

}  // namespace tpc::bench
