// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/placement.hpp"

#include <algorithm>

namespace tpc {

namespace {

std::size_t checked_dim(const Shape& global, int dim) {
  TPC_EXPECT(dim >= 0 && dim < static_cast<int>(global.size()), "dim {} of shape {}", dim, to_string(global));
  return static_cast<std::size_t>(dim);
}

// All of the other dims; [first, first + width) of one.
Placement slab(const Shape& global, std::size_t dim, std::int64_t first, std::int64_t width) {
  Placement placement{.global_shape = global, .blocks = {}, .partial_over = {}};
  Block block{Shape(global.size(), 0), global, Shape(global.size(), 0)};
  block.global_offset[dim] = first;
  block.extent[dim] = width;
  if (element_count(block.extent) > 0) placement.blocks.push_back(std::move(block));
  return placement;
}

}  // namespace

Placement replicate(const Shape& global) {
  Placement placement{.global_shape = global, .blocks = {}, .partial_over = {}};
  const Shape zero(global.size(), 0);
  if (element_count(global) > 0) placement.blocks.push_back({zero, global, zero});
  return placement;
}

Placement shard(const Shape& global, int dim, int part, int parts) {
  const auto d = checked_dim(global, dim);
  TPC_EXPECT(parts >= 1 && part >= 0 && part < parts, "part {} of {}", part, parts);
  TPC_EXPECT(global[d] % parts == 0, "{} parts of dim {} of shape {}", parts, dim, to_string(global));
  const std::int64_t width = global[d] / parts;
  return slab(global, d, part * width, width);
}

Placement padded_rows(const Shape& global, int dim, std::int64_t first, std::int64_t width) {
  const auto d = checked_dim(global, dim);
  TPC_EXPECT(first >= 0 && width >= 0, "rows {} to {} of dim {}", first, first + width, dim);
  return slab(global, d, first, std::clamp<std::int64_t>(global[d] - first, 0, width));
}

}  // namespace tpc
