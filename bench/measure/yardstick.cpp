// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/yardstick.hpp"

#include <atomic>
#include <cstdint>

namespace tpc::bench {

Subject yardstick_subject() {
  Subject subject;
  subject.name = "yardstick";
  subject.run = [](int) {
    constexpr int turns = 500'000;
    std::uint64_t x = 88172645463325252ULL;
    for (int i = 0; i < turns; ++i) {  // Marsaglia's xorshift: each turn waits for the one before
      x ^= x << 13U;
      x ^= x >> 7U;
      x ^= x << 17U;
    }
    static std::atomic<std::uint64_t> sink;
    sink.store(x, std::memory_order_relaxed);
  };
  return subject;
}

}  // namespace tpc::bench
