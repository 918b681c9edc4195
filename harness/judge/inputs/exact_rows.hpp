// SPDX-License-Identifier: Apache-2.0
// Rows on which normalisations and the cross entropy are exact.
#pragma once

#include <cstdint>
#include <vector>

namespace tpc {

// Row `row` of the norm_rows input in units of 2^20: entries 0, ±1, ±2 with zero sum and mean square 1. With
// entries of 2^20 the epsilon of a norm is below half an ulp of the variance 2^40, so 1/rms is 2^-20 to the
// bit. A function of (seed, row) alone, so that other inputs can be made to fit. width must be even: an odd
// number of ±1 has no zero sum.
std::vector<int> norm_row(std::uint64_t seed, std::int64_t row, std::int64_t width);

}  // namespace tpc
