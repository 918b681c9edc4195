// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/caches.hpp"

#include <unistd.h>

#include <algorithm>

namespace tpc::bench {

std::size_t last_level_cache_bytes() {
  constexpr std::size_t usual = std::size_t{32} << 20U;
  const long level3 = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return level3 > 0 ? static_cast<std::size_t>(level3) : usual;
}

int slots_beyond_caches(std::size_t bytes_per_slot) {
  constexpr std::size_t fewest = 2;
  constexpr std::size_t most = 8;
  const std::size_t wanted = 2 * last_level_cache_bytes() / std::max<std::size_t>(1, bytes_per_slot) + 1;
  return static_cast<int>(std::clamp(wanted, fewest, most));
}

}  // namespace tpc::bench
