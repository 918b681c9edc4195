// SPDX-License-Identifier: Apache-2.0
// Where a rank stands, by axes that layers know. A mesh for people has names of their own choice
// (device_mesh.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "reference/core/words.hpp"

namespace tpc {

// kv_copies is no axis of a mesh but a part of tp: the neighbours that hold copies of one kv head.
enum class Axis { pp, dp_replicate, dp_shard, tp, kv_copies };
constexpr auto words(Axis) { return spelling("pp", "dp_replicate", "dp_shard", "tp", "kv_copies"); }
inline constexpr std::size_t axis_count = words(Axis{}).size();
// "dp" is dp_replicate. Nothing for a name that layers do not know.
std::optional<Axis> axis_named(std::string_view name);

struct Coordinate {
  int rank = 0;
  int size = 1;
  bool operator==(const Coordinate&) const = default;
};

// An axis that a mesh does not have has size 1.
class Position {
 public:
  Position() = default;
  static Position on_tp(int rank, int size) { return Position().with(Axis::tp, {rank, size}); }
  Position with(Axis axis, Coordinate coordinate) const {
    Position changed = *this;
    changed.coordinates_[static_cast<std::size_t>(axis)] = coordinate;
    return changed;
  }

  const Coordinate& on(Axis axis) const { return coordinates_[static_cast<std::size_t>(axis)]; }
  const Coordinate& tp() const { return on(Axis::tp); }
  bool operator==(const Position&) const = default;

 private:
  std::array<Coordinate, axis_count> coordinates_;
};

}  // namespace tpc
