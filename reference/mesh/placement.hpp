// SPDX-License-Identifier: Apache-2.0
// Where the elements of a local tensor stand in the global one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/core/tensor.hpp"
#include "reference/mesh/position.hpp"

namespace tpc {

// A box of the canonical global tensor and where it lies in the local one. Each list has one entry per dim.
struct Block {
  Shape global_offset;
  Shape extent;
  Shape local_offset;
  bool operator==(const Block&) const = default;
};

// Layouts (replicate, shard, partial) are shorthand that lowers to this.
struct Placement {
  Shape global_shape;
  std::vector<Block> blocks;              // disjoint in the local tensor; none where the rank holds nothing
  std::vector<std::string> partial_over;  // mesh axes over which the value is still a pending sum
  std::optional<double> padding =
      0.0;  // what the local elements outside all blocks must hold; nullopt: anything
  bool operator==(const Placement&) const = default;
};

Placement replicate(const Shape& global);
// Equal contiguous shards of one dim; the caller has made sure that parts divides it.
Placement shard(const Shape& global, int dim, int part, int parts);
inline Placement shard(const Shape& global, int dim, const Coordinate& part) {
  return shard(global, dim, part.rank, part.size);
}
// The rows [first, first + width) of dim 0 of which only those below global[0] exist: a padded vocabulary.
Placement padded_rows(const Shape& global, int dim, std::int64_t first, std::int64_t width);

}  // namespace tpc
