// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/position.hpp"

namespace tpc {

namespace {
constexpr std::array<std::string_view, axis_count> axis_names = {"pp", "dp_replicate", "dp_shard", "tp",
                                                                 "kv_copies"};
}  // namespace

std::string_view name(Axis axis) { return axis_names.at(static_cast<std::size_t>(axis)); }

std::optional<Axis> axis_named(std::string_view name) {
  if (name == "dp") return Axis::dp_replicate;
  for (const Axis axis : {Axis::pp, Axis::dp_replicate, Axis::dp_shard, Axis::tp})
    if (tpc::name(axis) == name) return axis;
  return std::nullopt;
}

}  // namespace tpc
