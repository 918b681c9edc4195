// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/explain/misreadings/misreadings.hpp"

namespace tpc {

// Weights that are taken for others: two of one shape exchanged, heads or rows of a table in another order.
std::vector<Misreading> misread_weights(const Request& request);

}  // namespace tpc
