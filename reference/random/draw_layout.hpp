// SPDX-License-Identifier: Apache-2.0
// How the mesh cuts a tensor whose elements are drawn at random.
#pragma once

#include <vector>

#include "reference/mesh/placement.hpp"

namespace tpc {

// This rank holds part `index` of the `parts` into which a mesh axis cuts a dim.
struct ShardedAxis {
  Axis axis = Axis::tp;
  int dim = 0;
  std::int64_t index = 0;
  std::int64_t parts = 1;
};

struct DrawLayout {
  Shape local;                       // shape of the local tensor
  Placement placement;               // of its elements in the canonical tensor
  std::vector<ShardedAxis> sharded;  // in mesh order. An axis of size 1 counts; one that replicates does not
  Shape first_shard;                 // extent of the shard at index 0 of every axis
  std::int64_t copies = 1;           // ranks of an axis that hold one shard together (kv heads of K < T)
};

DrawLayout whole_layout(const Shape& global);
// Each axis in turn cuts what the earlier ones left: parts of ceil(n / parts), the last ones shorter or empty
// (the rule of torch.chunk).
DrawLayout cut_layout(const Shape& global, std::vector<ShardedAxis> axes);

bool is_sharded_over(const DrawLayout& layout, Axis axis);
// Row-major over the dims; within a dim the later axis varies fastest.
std::int64_t shard_index(const DrawLayout& layout);

}  // namespace tpc
