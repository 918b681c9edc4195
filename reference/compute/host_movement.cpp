// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"
#include "reference/compute/strided_copy.hpp"

namespace tpc {

namespace {

// Rounds once. By way of an f32 rounded to odd, whose 16 more bits then decide ties rightly.
bf16 bf16_of(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return bf16(nearest);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;  // towards zero
  return bf16(std::bit_cast<float>(bits | 1U));
}

template <class To, class From>
To converted(From value) {
  if constexpr (std::same_as<To, bf16> && std::same_as<From, float>)
    return bf16(value);
  else if constexpr (std::same_as<To, bf16>)
    return bf16_of(static_cast<double>(value));
  else if constexpr (std::same_as<From, bf16>)
    return static_cast<To>(widen(value));
  else
    return static_cast<To>(value);
}

std::int64_t offset_of(const Shape& index, const Shape& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

StridedView view_at(const Tensor& x, const Shape& offset) {
  Shape strides = strides_of(x.shape());
  const auto skipped = static_cast<std::size_t>(offset_of(offset, strides)) * size_of(x.dtype());
  return {x.raw() + skipped, std::move(strides)};
}

}  // namespace

void HostKernels::fill(const Tensor& y, double value) {
  visit_any(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(values<T>(y), y.count(), converted<T>(value));
  });
}

void HostKernels::copy(const Tensor& y, const Tensor& x) {
  if (y.count() == 0 || (y.dtype() == x.dtype() && y.raw() == x.raw())) return;
  visit_any(y.dtype(), [&](auto y_zero) {
    using To = decltype(y_zero);
    visit_any(x.dtype(), [&](auto x_zero) {
      using From = decltype(x_zero);
      const From* from = values<From>(x);
      if constexpr (std::same_as<To, From>)
        std::memcpy(values<To>(y), from, x.bytes());
      else
        std::transform(from, from + x.count(), values<To>(y), converted<To, From>);
    });
  });
}

void HostKernels::copy_block(const Tensor& y, const Shape& y_offset, const Tensor& x, const Shape& x_offset,
                             const Shape& extent) {
  if (element_count(extent) == 0) return;
  strided_copy(extent, view_at(y, y_offset), view_at(x, x_offset), size_of(x.dtype()));
}

void HostKernels::permute(const Tensor& y, const Tensor& x, const std::vector<int>& order) {
  if (y.count() == 0) return;
  const Shape x_strides = strides_of(x.shape());
  Shape reordered;
  for (const int dim : order) reordered.push_back(x_strides[static_cast<std::size_t>(dim)]);
  strided_copy(y.shape(), {y.raw(), strides_of(y.shape())}, {x.raw(), reordered}, size_of(x.dtype()));
}

}  // namespace tpc
