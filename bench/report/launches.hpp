// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/report/results.hpp"

namespace tpc::bench {

// Several starts of one measurement as one: what changes from start to start only (where memory lies, who
// shares a core) then shows as the spread between launches. Figures are means; what failed in one launch has
// failed.
Results merged(const std::vector<Results>& launches);

}  // namespace tpc::bench
