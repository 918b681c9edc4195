// SPDX-License-Identifier: Apache-2.0
// A named grid of ranks. The last axis varies fastest, so that `tp`, put last, joins neighbouring ranks.
#pragma once

#include <string>
#include <vector>

#include "reference/comm/communicator.hpp"
#include "reference/mesh/position.hpp"

namespace tpc {

struct MeshSpec {
  std::vector<int> shape;
  std::vector<std::string> axes;
  int ranks() const;
  bool operator==(const MeshSpec&) const = default;
};
std::string to_string(const MeshSpec& spec);  // "(2, 4) over (dp_replicate, tp)"

// Throws Refusal: empty, repeated or missing names, sizes below 1, a product that is not `ranks`.
void validate(const MeshSpec& spec, int ranks);

class DeviceMesh {
 public:
  // Collective over world, whose size must be the product of the shape. One communicator per axis is made
  // here, named after it; those of further groups are made when first asked for. Meshes derived from one
  // another share them.
  DeviceMesh(CommunicatorPtr world, MeshSpec spec);

  const MeshSpec& spec() const { return spec_; }
  int ranks() const { return spec_.ranks(); }
  int rank() const { return rank_; }
  // Of all ranks of this mesh. Collective over the mesh that this one was cut from when first asked of a
  // sub-mesh of several axes, which has no communicator before.
  Communicator& world() const;

  // Unknown names are Refusals that list the axes there are.
  bool has(const std::string& axis) const;
  int size(const std::string& axis) const;
  int coordinate(const std::string& axis) const;
  std::vector<int> coordinates() const;  // one per axis
  Communicator& group(const std::string& axis) const;

  // For layers. Axes that they do not know are left out.
  Position position() const;
  Communicator& group(Axis axis) const { return group(std::string(tpc::name(axis))); }

  // All the ranks lists of an axis' groups, in rank order: for tests and listings.
  std::vector<std::vector<int>> groups(const std::string& axis) const;

  // The mesh of some axes, in the order of this mesh, at this rank's coordinates of the others. No
  // communication.
  DeviceMesh sub(const std::vector<std::string>& axes) const;
  // Collective over the mesh. Adjacent axes seen as one, under a new name.
  DeviceMesh flatten(const std::vector<std::string>& axes, const std::string& name);
  // Collective over the mesh. One axis seen as several, the last fastest; the sizes multiply to the axis'
  // size.
  DeviceMesh unflatten(const std::string& axis, const std::vector<int>& sizes,
                       const std::vector<std::string>& names);

 private:
  struct Groups;  // the communicators of a mesh and all that were derived from it
  DeviceMesh(std::shared_ptr<Groups> groups, MeshSpec spec, std::vector<int> members);
  int index_of(const std::string& axis) const;
  int stride_of(int index) const;  // between neighbours on an axis, in ranks
  DeviceMesh with_axes(MeshSpec spec) const;
  std::vector<int> group_members(int index) const;  // ranks of the root mesh
  Communicator& made(const std::string& name, const std::vector<int>& members) const;

  std::shared_ptr<Groups> groups_;
  MeshSpec spec_;
  std::vector<int> members_;  // ranks of the root mesh
  int rank_ = 0;
};

}  // namespace tpc
