// SPDX-License-Identifier: Apache-2.0
// Parts of a step on their own: its collectives, and its products.
#pragma once

#include "bench/measure/sampling.hpp"
#include "bench/steps/kernel_log.hpp"
#include "reference/comm/trace.hpp"

namespace tpc::bench {

// The calls of the trace over all of `ranks`, one after the other, on buffers of their own; calls over other
// groups are left out. Borrows ranks.
Subject communication_subject(Communicator& ranks, const std::vector<TraceRow>& calls);

// All products of a step, each as often as it occurs, on operands that take turns. Borrows compute.
Subject products_subject(Compute& compute, const std::map<Product, KernelUse>& products);
// One of them.
Subject product_subject(Compute& compute, const Product& shape);

}  // namespace tpc::bench
