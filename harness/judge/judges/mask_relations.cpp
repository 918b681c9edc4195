// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judges/mask_relations.hpp"

namespace tpc {

namespace {

Relation over_axis(const Randomness& random, const std::string& axis, bool same_elements) {
  const bool own_way =
      random.profile != "invariant" && random.profile != "megatron" && random.profile != "dtensor";
  if (axis == "tp") return same_elements ? Relation::equal : Relation::independent;
  if (own_way) return Relation::free;
  if (random.profile == "invariant")
    return Relation::equal;  // the same layer and step, wherever it is computed
  if (axis == "pp") return Relation::independent;
  return random.profile == "megatron" && random.seed_by_data_parallel_rank ? Relation::independent
                                                                           : Relation::equal;
}

}  // namespace

std::vector<int> mesh_coordinates(const MeshSpec& mesh, int rank) {
  std::vector<int> at(mesh.shape.size());
  for (std::size_t axis = mesh.shape.size(); axis-- > 0; rank /= mesh.shape[axis])
    at[axis] = rank % mesh.shape[axis];
  return at;
}

Relation relation(const Randomness& random, const MeshSpec& mesh, int a, int b, bool same_elements) {
  const std::vector<int> one = mesh_coordinates(mesh, a);
  const std::vector<int> other = mesh_coordinates(mesh, b);
  Relation all = same_elements ? Relation::equal : Relation::independent;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (one[axis] == other[axis]) continue;
    const Relation here = over_axis(random, mesh.axes[axis], same_elements);
    if (here == Relation::independent) return here;
    if (here == Relation::free) all = Relation::free;
  }
  return all;
}

}  // namespace tpc
