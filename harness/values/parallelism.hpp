// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/mesh/device_mesh.hpp"

namespace tpc {

// Ranks along each way of sharing out a model, as the axes of a mesh name it; 0 where no axis does. dp is
// the product over all data-parallel axes, whose names begin so.
struct Parallelism {
  int tp = 0;
  int dp = 0;
  int pp = 0;
  bool operator==(const Parallelism&) const = default;
};

inline Parallelism parallelism_of(const MeshSpec& mesh) {
  Parallelism found;
  for (std::size_t i = 0; i < mesh.axes.size() && i < mesh.shape.size(); ++i) {
    if (mesh.axes[i] == "tp") found.tp = mesh.shape[i];
    if (mesh.axes[i] == "pp") found.pp = mesh.shape[i];
    if (mesh.axes[i].starts_with("dp")) found.dp = (found.dp == 0 ? 1 : found.dp) * mesh.shape[i];
  }
  return found;
}

}  // namespace tpc
