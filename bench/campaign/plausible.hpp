// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/report/results.hpp"

namespace tpc::bench {

// Figures that cannot be, with the reason: a collective that fills its link beyond the link's rate, a step
// that multiplies faster than its own products do alone, or beyond the peak of its device. Such rows fail. A
// rate of 0 is not known.
struct Limits {
  double link_bytes_per_s = 0;
  double peak_flops_per_s = 0;  // of a rank
};
void refuse_impossible(Results& results, const Limits& limits);

}  // namespace tpc::bench
