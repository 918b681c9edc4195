// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judges/stream_seeds.hpp"

#include "harness/judge/judges/mask_relations.hpp"

namespace tpc {

namespace {

struct Coordinates {
  std::uint64_t pp = 0;
  std::uint64_t dp = 0;  // over all data-parallel axes
  std::uint64_t tp = 0;
};

Coordinates coordinates(const MeshSpec& mesh, int rank) {
  const std::vector<int> on_mesh = mesh_coordinates(mesh, rank);
  Coordinates at;
  for (std::size_t axis = 0; axis < mesh.shape.size(); ++axis) {
    const auto here = static_cast<std::uint64_t>(on_mesh[axis]);
    if (mesh.axes[axis] == "pp")
      at.pp = here;
    else if (mesh.axes[axis] == "tp")
      at.tp = here;
    else
      at.dp = at.dp * static_cast<std::uint64_t>(mesh.shape[axis]) + here;
  }
  return at;
}

}  // namespace

std::optional<std::vector<StreamSeed>> stream_seeds(const Problem& problem, const MeshSpec& mesh, int rank) {
  const Randomness& random = problem.random;
  const Coordinates at = coordinates(mesh, rank);
  if (random.profile == "invariant") return {{{"invariant", problem.seed}}};
  if (random.profile == "dtensor") return {{{"parallel-rng", problem.seed + at.pp}}};
  if (random.profile != "megatron") return std::nullopt;
  const std::uint64_t shared =
      problem.seed + 100 * at.pp + (random.seed_by_data_parallel_rank ? 10 * at.dp : 0);
  return {{{"default", shared},
           {"data-parallel-rng", shared},
           {"model-parallel-rng", shared + 2718 + at.tp},
           {"expert-parallel-rng", shared + 1024 + at.tp}}};
}

}  // namespace tpc
