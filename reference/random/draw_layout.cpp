// SPDX-License-Identifier: Apache-2.0
#include "reference/random/draw_layout.hpp"

#include <algorithm>

namespace tpc {

DrawLayout whole_layout(const Shape& global) { return {global, replicate(global), {}, global, 1}; }

DrawLayout cut_layout(const Shape& global, std::vector<ShardedAxis> axes) {
  Block block{Shape(global.size(), 0), global, Shape(global.size(), 0)};
  Shape first_shard = global;
  for (const ShardedAxis& axis : axes) {
    TPC_EXPECT(axis.dim >= 0 && axis.dim < static_cast<int>(global.size()), "dim {} of {}", axis.dim,
               to_string(global));
    TPC_EXPECT(axis.index >= 0 && axis.index < axis.parts, "part {} of {}", axis.index, axis.parts);
    const auto dim = static_cast<std::size_t>(axis.dim);
    const std::int64_t left = block.extent[dim];
    const std::int64_t width = (left + axis.parts - 1) / axis.parts;
    const std::int64_t first = std::min(axis.index * width, left);
    block.global_offset[dim] += first;
    block.extent[dim] = std::min(width, left - first);
    first_shard[dim] = (first_shard[dim] + axis.parts - 1) / axis.parts;
  }
  DrawLayout layout{block.extent, {}, std::move(axes), std::move(first_shard), 1};
  layout.placement.global_shape = global;
  if (element_count(block.extent) > 0) layout.placement.blocks.push_back(std::move(block));
  return layout;
}

bool is_sharded_over(const DrawLayout& layout, Axis axis) {
  return std::any_of(layout.sharded.begin(), layout.sharded.end(),
                     [&](const ShardedAxis& sharded) { return sharded.axis == axis; });
}

std::int64_t shard_index(const DrawLayout& layout) {
  std::int64_t index = 0;
  for (int dim = 0; dim < static_cast<int>(layout.placement.global_shape.size()); ++dim)
    for (const ShardedAxis& axis : layout.sharded)
      if (axis.dim == dim) index = index * axis.parts + axis.index;
  return index;
}

}  // namespace tpc
