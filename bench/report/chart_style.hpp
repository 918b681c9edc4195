// SPDX-License-Identifier: Apache-2.0
// What the charts have in common.
#pragma once

#include <string>
#include <vector>

#include "bench/measure/row.hpp"

namespace tpc::bench {

namespace colour {  // Okabe and Ito, "Color universal design", 2008
inline constexpr const char* black = "#000000";
inline constexpr const char* blue = "#0072B2";
inline constexpr const char* orange = "#E69F00";
inline constexpr const char* green = "#009E73";
inline constexpr const char* vermilion = "#D55E00";
inline constexpr const char* sky = "#56B4E9";
}  // namespace colour

inline constexpr const char* chart_style =
    "set grid ytics lc rgb '#dddddd'\nset border 3\nset tics nomirror\n"
    "set key outside right top vertical Left reverse noenhanced samplen 3 spacing 1.15\n";

using RowPointers = std::vector<const Row*>;

// A figure as gnuplot reads it: NaN where the row has none.
std::string figure_or_nan(const Row& row, const std::string& name);

}  // namespace tpc::bench
