// SPDX-License-Identifier: Apache-2.0
#include "bench/report/units.hpp"

#include <fmt/format.h>

#include <utility>

namespace tpc::bench {

std::string seconds_text(double seconds) {
  if (seconds == 0) return "0";
  if (seconds < 0) return "-" + seconds_text(-seconds);
  for (const auto& [unit, size] : {std::pair{"s", 1.0}, {"ms", 1e-3}, {"µs", 1e-6}})
    if (seconds >= size) return fmt::format("{:.3g} {}", seconds / size, unit);
  return fmt::format("{:.0f} ns", seconds * 1e9);
}

std::string bytes_text(double bytes) {
  for (const auto& [unit, size] : {std::pair{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}})
    if (bytes >= size) return fmt::format("{:.3g} {}", bytes / size, unit);
  return fmt::format("{:.0f} B", bytes);
}

}  // namespace tpc::bench
