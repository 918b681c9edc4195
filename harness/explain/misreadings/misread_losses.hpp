// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/explain/misreadings/misreadings.hpp"

namespace tpc {

// Each `width` classes with a maximum of their own, which is not added back.
Answers loss_of_own_maxima(const Problem& problem, std::int64_t width);

// Cross entropies over shards of the vocabulary of which each takes something else for the whole.
std::vector<Misreading> misread_losses(const Request& request);

}  // namespace tpc
