// SPDX-License-Identifier: Apache-2.0
// What the host's loops have in common.
#pragma once

#include <array>
#include <concepts>
#include <type_traits>

#include "reference/core/tensor.hpp"

namespace tpc {

// The type in which values of a storage type are computed; also that of per-row statistics.
template <class T>
using Wide = std::conditional_t<std::same_as<T, double>, double, float>;

template <class T>
Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}

template <class T>
T* values(const Tensor& x) {
  return x.data<T>();
}

// Sums and maxima run in this many independent lanes, which vectorise and round less than one long chain.
constexpr std::int64_t lane_count = 8;

// The sum of term(i) for i in [0, n), in a fixed order.
template <class W, class Term>
W sum_over(std::int64_t n, Term term) {
  std::array<W, lane_count> lanes{};
  const std::int64_t whole = n - n % lane_count;
  for (std::int64_t i = 0; i < whole; i += lane_count)
    for (std::int64_t k = 0; k < lane_count; ++k) lanes[static_cast<std::size_t>(k)] += term(i + k);
  W total = 0;
  for (const W lane : lanes) total += lane;
  for (std::int64_t i = whole; i < n; ++i) total += term(i);
  return total;
}

// The largest of term(i), at least `smallest`. A NaN may be passed over; the sums that follow see it.
template <class W, class Term>
W max_over(std::int64_t n, W smallest, Term term) {
  std::array<W, lane_count> lanes;
  lanes.fill(smallest);
  const std::int64_t whole = n - n % lane_count;
  for (std::int64_t i = 0; i < whole; i += lane_count)
    for (std::int64_t k = 0; k < lane_count; ++k) {
      W& lane = lanes[static_cast<std::size_t>(k)];
      const W value = term(i + k);
      lane = lane < value ? value : lane;
    }
  W largest = smallest;
  for (const W lane : lanes) largest = largest < lane ? lane : largest;
  for (std::int64_t i = whole; i < n; ++i) {
    const W value = term(i);
    largest = largest < value ? value : largest;
  }
  return largest;
}

}  // namespace tpc
