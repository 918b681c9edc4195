// SPDX-License-Identifier: Apache-2.0
// Faults of the sharding map (which rows of the canonical weights a rank loads, and where it says that they
// stand) and of gradient finalisation (which gradients are still sums). Specifications come back as they are
// where nothing is planted.
#pragma once

#include "reference/tensor_parallel/context.hpp"
#include "reference/tensor_parallel/parameters.hpp"

namespace tpc {

// As the loader reads them, and what it makes of the values.
std::vector<ParameterSpec> planted_map(const Context& ctx, std::vector<ParameterSpec> specs);
WeightSource planted_source(const Context& ctx, const std::vector<ParameterSpec>& specs, WeightSource source);
// As whoever gathers the shards reads them.
std::vector<ParameterSpec> planted_report(const Context& ctx, std::vector<ParameterSpec> specs);

// As finalisation reads them, and what it does to the sums.
std::vector<ParameterSpec> planted_pending(const Context& ctx, std::vector<ParameterSpec> specs);
void rescale_planted(Context& ctx, const std::vector<ParameterSpec>& specs, const Gradients& gradients);

}  // namespace tpc
