// SPDX-License-Identifier: Apache-2.0
// Faults of the sharding map (which canonical rows a rank loads or reports, and where they stand) and of
// gradient finalisation (which gradients are still sums). Specifications come back as they are where nothing
// is planted.
#pragma once

#include "reference/faulty/fault_set.hpp"
#include "reference/parameters/gradients.hpp"
#include "reference/parameters/loading.hpp"
#include "reference/tensor_parallel/context.hpp"

namespace tpc {

// As the loader reads them, and what it makes of the values.
std::vector<ParameterSpec> faulty_map(const FaultSet& faults, const Position& at,
                                      std::vector<ParameterSpec> specs);
WeightSource faulty_source(const FaultSet& faults, const Position& at,
                           const std::vector<ParameterSpec>& specs, WeightSource source);
// As whoever gathers the shards reads them.
std::vector<ParameterSpec> faulty_report(const FaultSet& faults, const Position& at,
                                         std::vector<ParameterSpec> specs);

// As finalisation reads them, and what it does to the sums.
std::vector<ParameterSpec> faulty_pending(const FaultSet& faults, std::vector<ParameterSpec> specs);
void rescale_faulty(const FaultSet& faults, Context& ctx, const Gradients& gradients);

}  // namespace tpc
