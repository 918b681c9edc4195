// SPDX-License-Identifier: Apache-2.0
// What a layer says of each tensor that it needs.
#pragma once

#include <string>
#include <vector>

#include "reference/mesh/placement.hpp"

namespace tpc {

// A canonical weight's share in a local tensor. A fused local tensor has several, e.g. q.weight, k.weight,
// v.weight.
struct ParameterPart {
  std::string canonical;
  Placement placement;
  // Axes over which this rank's gradient is still one term of a sum when backward ends.
  std::vector<Axis> gradient_pending_over = {};
  int copies = 1;  // neighbours on tp that hold the same elements: those of a kv head where K < T
};

struct ParameterSpec {
  std::string name;                       // of the local tensor
  Shape shape = {};                       // local
  std::vector<ParameterPart> parts = {};  // each a contiguous range of rows of the local tensor
  int uses = 1;  // layers that read it, each of which delivers a gradient: 2 where tied
};

bool holds_everything(const ParameterPart& part);  // of the canonical tensor

// The rows of a local tensor that belong to a part.
Tensor part_of(const Tensor& local, const ParameterPart& part);

// Ranks over which gradients are pending sums.
struct PendingGroup {
  Axis axis = Axis::tp;
  int copies = 1;  // of kv_copies
  bool operator==(const PendingGroup&) const = default;
};
bool is_pending_over(const ParameterPart& part, Axis axis);
bool is_pending_over(const ParameterPart& part, const PendingGroup& group);
// In the order in which specifications first name them.
std::vector<PendingGroup> pending_groups(const std::vector<ParameterSpec>& specs);

}  // namespace tpc
