// SPDX-License-Identifier: Apache-2.0
#include "reference/parameters/parameter_spec.hpp"

#include <algorithm>

namespace tpc {

bool holds_everything(const ParameterPart& part) {
  return part.placement.blocks.size() == 1 &&
         part.placement.blocks.front().extent == part.placement.global_shape;
}

Tensor part_of(const Tensor& local, const ParameterPart& part) {
  if (part.placement.blocks.empty()) return local.rows(0, 0);
  TPC_EXPECT(part.placement.blocks.size() == 1, "part {} is not one range of rows", part.canonical);
  const Block& block = part.placement.blocks.front();
  return local.rows(block.local_offset[0], block.extent[0]);
}

bool is_pending_over(const ParameterPart& part, Axis axis) {
  const std::vector<Axis>& pending = part.gradient_pending_over;
  return std::find(pending.begin(), pending.end(), axis) != pending.end();
}

bool is_pending_over(const ParameterPart& part, const PendingGroup& group) {
  return is_pending_over(part, group.axis) && (group.axis != Axis::kv_copies || part.copies == group.copies);
}

std::vector<PendingGroup> pending_groups(const std::vector<ParameterSpec>& specs) {
  std::vector<PendingGroup> groups;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      for (const Axis axis : part.gradient_pending_over) {
        const PendingGroup group{axis, axis == Axis::kv_copies ? part.copies : 1};
        if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
      }
  return groups;
}

}  // namespace tpc
