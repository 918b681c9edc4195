// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tpc::bench {

// Bytes of the largest cache; 32 MiB where the machine does not say.
std::size_t last_level_cache_bytes();

// Sets of buffers of this size to be taken in turn, so that one set has left the caches when its turn comes
// again: at least 2, at most 8.
int slots_beyond_caches(std::size_t bytes_per_slot);

}  // namespace tpc::bench
