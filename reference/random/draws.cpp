// SPDX-License-Identifier: Apache-2.0
#include "reference/random/draws.hpp"

#include <cmath>

#include "reference/core/philox.hpp"

namespace tpc {

namespace {

std::int64_t flat_index(const Shape& at, const Shape& shape) {
  std::int64_t index = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) index = index * shape[dim] + at[dim];
  return index;
}

// Calls f(local index, global index, count) for every row of a block's last dim: a run in both tensors.
template <class F>
void for_each_run(const Block& block, const Shape& local, const Shape& global, F&& f) {
  if (element_count(block.extent) == 0) return;
  const std::size_t rows_dims = block.extent.empty() ? 0 : block.extent.size() - 1;
  const std::int64_t length = block.extent.empty() ? 1 : block.extent.back();
  Shape local_at = block.local_offset;
  Shape global_at = block.global_offset;
  for (std::int64_t row = 0; row < element_count(block.extent) / length; ++row) {
    std::int64_t rest = row;
    for (std::size_t dim = rows_dims; dim-- > 0; rest /= block.extent[dim]) {
      const std::int64_t step = rest % block.extent[dim];
      local_at[dim] = block.local_offset[dim] + step;
      global_at[dim] = block.global_offset[dim] + step;
    }
    f(flat_index(local_at, local), flat_index(global_at, global), length);
  }
}

// Calls f(local index, words) for every element that the layout's blocks hold.
template <class F>
void for_each_number(const CounterRule& rule, const DrawLayout& layout, F&& f) {
  for (const Block& block : layout.placement.blocks)
    for_each_run(block, layout.local, layout.placement.global_shape,
                 [&](std::int64_t local, std::int64_t global, std::int64_t count) {
                   const std::int64_t index = rule.index == CounterRule::Index::global ? global : local;
                   const std::uint64_t first = rule.first + static_cast<std::uint64_t>(index);
                   for (std::int64_t i = 0; i < count; ++i)
                     f(local + i, philox(rule.key, first + static_cast<std::uint64_t>(i), rule.stream));
                 });
}

void fill_mask(const Tensor& mask, const CounterRule& rule, const DrawLayout& layout, std::uint32_t drop) {
  auto* const kept = mask.data<std::uint8_t>();
  for_each_number(rule, layout, [&](std::int64_t i, const PhiloxWords& words) {
    kept[i] = static_cast<std::uint8_t>(words[0] >= drop);
  });
}

void expect_full(const DrawLayout& layout) {
  std::int64_t covered = 0;
  for (const Block& block : layout.placement.blocks) covered += element_count(block.extent);
  TPC_EXPECT(covered == element_count(layout.local), "a mask of {} of which {} elements are placed",
             to_string(layout.local), covered);
}

}  // namespace

std::uint32_t drop_below(double p) {
  const double dropped = std::round(p * 0x1p32);
  if (!(p >= 0 && dropped < 0x1p32))
    throw Refusal(fmt::format("dropout probability {}: it must be at least 0 and below 1", p));
  return static_cast<std::uint32_t>(dropped);
}

Tensor draw_mask(Compute& compute, RandomStreams& streams, const MaskSite& site, const DrawLayout& layout,
                 double p, std::string_view label) {
  const std::uint32_t drop = drop_below(p);
  expect_full(layout);
  Tensor mask = compute.allocate(DType::u8, layout.local, label);
  if (p == 0) {
    compute.fill(mask, 1);
    return mask;
  }
  const CounterRule rule = streams.for_mask(site, layout);
  if (mask.place() == Place::nowhere) return mask;
  if (mask.place() == Place::host) {
    fill_mask(mask, rule, layout, drop);
  } else {
    const Tensor host = host_tensor(DType::u8, layout.local);
    fill_mask(host, rule, layout, drop);
    compute.copy(mask, host);
  }
  return mask;
}

void draw_normal(RandomStreams& streams, const std::string& parameter, const DrawLayout& layout,
                 const Normal& normal, const Tensor& out) {
  const CounterRule rule = streams.for_weights(parameter, layout);
  if (!out) return;
  TPC_EXPECT(out.shape() == layout.local, "{}: a tensor {} for a layout {}", parameter,
             to_string(out.shape()), to_string(layout.local));
  visit_float(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const values = out.data<T>();
    for_each_number(rule, layout, [&](std::int64_t i, const PhiloxWords& words) {
      const double value = normal.mean + normal.std * gaussian(words);
      if constexpr (std::is_same_v<T, bf16>)
        values[i] = bf16(static_cast<float>(value));
      else
        values[i] = static_cast<T>(value);
    });
  });
}

}  // namespace tpc
