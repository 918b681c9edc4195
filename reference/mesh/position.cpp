// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/position.hpp"

namespace tpc {

std::optional<Axis> axis_named(std::string_view name) {
  if (name == "dp") return Axis::dp_replicate;
  const auto axis = named<Axis>(name);
  return axis == Axis::kv_copies ? std::nullopt : axis;
}

}  // namespace tpc
