// SPDX-License-Identifier: Apache-2.0
#include "reference/mesh/device_mesh.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace tpc {

namespace {

template <class T>
std::string comma_list(const std::vector<T>& items) {
  std::string text;
  for (const T& item : items) text += fmt::format("{}{}", text.empty() ? "" : ", ", item);
  return text;
}

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void expect_distinct_names(const MeshSpec& spec) {
  for (std::size_t i = 0; i < spec.axes.size(); ++i) {
    if (spec.axes[i].empty())
      throw Refusal(fmt::format("mesh axis {} of {} has no name; name every axis", i, spec.axes.size()));
    if (std::count(spec.axes.begin(), spec.axes.end(), spec.axes[i]) > 1)
      throw Refusal(
          fmt::format("mesh axis '{}' is named more than once; give each axis its own name", spec.axes[i]));
  }
}

}  // namespace

int MeshSpec::ranks() const { return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>()); }

std::string to_string(const MeshSpec& spec) {
  return fmt::format("({}) over ({})", comma_list(spec.shape), comma_list(spec.axes));
}

void validate(const MeshSpec& spec, int ranks) {
  if (spec.shape.empty()) throw Refusal("a mesh without axes; give at least one axis and its size");
  if (spec.shape.size() != spec.axes.size())
    throw Refusal(
        fmt::format("{} mesh sizes for {} axis names; name every axis", spec.shape.size(), spec.axes.size()));
  expect_distinct_names(spec);
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    if (spec.shape[i] < 1)
      throw Refusal(
          fmt::format("mesh axis '{}' of size {}; sizes are at least 1", spec.axes[i], spec.shape[i]));
  std::int64_t product = 1;
  for (const int size : spec.shape) product = std::min<std::int64_t>(product * size, INT32_MAX);
  if (product != ranks)
    throw Refusal(
        fmt::format("a mesh of {} needs {} ranks and there are {}; make the product of its sizes {}",
                    to_string(spec), product, ranks, ranks));
}

// Keyed by name and members, so that one group is made once however many meshes look at it.
struct DeviceMesh::Groups {
  CommunicatorPtr root;
  std::map<std::pair<std::string, std::vector<int>>, CommunicatorPtr> made;
};

DeviceMesh::DeviceMesh(CommunicatorPtr world, MeshSpec spec)
    : groups_(std::make_shared<Groups>()), spec_(std::move(spec)) {
  validate(spec_, world->size());
  members_ = all_ranks(world->size());
  rank_ = world->rank();
  groups_->root = std::move(world);
  for (const std::string& axis : spec_.axes) made(axis, group_members(index_of(axis)));
}

DeviceMesh::DeviceMesh(std::shared_ptr<Groups> groups, MeshSpec spec, std::vector<int> members)
    : groups_(std::move(groups)), spec_(std::move(spec)), members_(std::move(members)) {
  const auto self = std::find(members_.begin(), members_.end(), groups_->root->rank());
  TPC_EXPECT(self != members_.end(), "rank {} is not in its own mesh", groups_->root->rank());
  rank_ = static_cast<int>(self - members_.begin());
}

Communicator& DeviceMesh::made(const std::string& name, const std::vector<int>& members) const {
  CommunicatorPtr& group = groups_->made[{name, members}];
  if (!group) group = groups_->root->subgroup(members, name);
  return *group;
}

Communicator& DeviceMesh::world() const {
  if (members_.size() == static_cast<std::size_t>(groups_->root->size())) return *groups_->root;
  if (spec_.axes.size() == 1) return group(spec_.axes.front());
  std::string name;
  for (const std::string& axis : spec_.axes) name += (name.empty() ? "" : "_") + axis;
  return made(name, members_);
}

int DeviceMesh::index_of(const std::string& axis) const {
  const auto found = std::find(spec_.axes.begin(), spec_.axes.end(), axis);
  if (found == spec_.axes.end())
    throw Refusal(fmt::format("unknown mesh axis '{}'; there are: {}", axis, comma_list(spec_.axes)));
  return static_cast<int>(found - spec_.axes.begin());
}

int DeviceMesh::stride_of(int index) const {
  return std::accumulate(spec_.shape.begin() + index + 1, spec_.shape.end(), 1, std::multiplies<>());
}

bool DeviceMesh::has(const std::string& axis) const {
  return std::find(spec_.axes.begin(), spec_.axes.end(), axis) != spec_.axes.end();
}

int DeviceMesh::size(const std::string& axis) const {
  return spec_.shape[static_cast<std::size_t>(index_of(axis))];
}

int DeviceMesh::coordinate(const std::string& axis) const {
  const int index = index_of(axis);
  return rank_ / stride_of(index) % spec_.shape[static_cast<std::size_t>(index)];
}

std::vector<int> DeviceMesh::coordinates() const {
  std::vector<int> result;
  for (const std::string& axis : spec_.axes) result.push_back(coordinate(axis));
  return result;
}

Position DeviceMesh::position() const {
  Position position;
  for (const std::string& axis : spec_.axes)
    if (const auto known = axis_named(axis)) position = position.with(*known, {coordinate(axis), size(axis)});
  return position;
}

std::vector<int> DeviceMesh::group_members(int index) const {
  const int stride = stride_of(index);
  const int size = spec_.shape[static_cast<std::size_t>(index)];
  const int first = rank_ - rank_ / stride % size * stride;
  std::vector<int> members;
  for (int i = 0, at = first; i < size; ++i, at += stride)
    members.push_back(members_[static_cast<std::size_t>(at)]);
  return members;
}

Communicator& DeviceMesh::group(const std::string& axis) const {
  return made(axis, group_members(index_of(axis)));
}

std::vector<std::vector<int>> DeviceMesh::groups(const std::string& axis) const {
  const int index = index_of(axis);
  const int stride = stride_of(index);
  const int size = spec_.shape[static_cast<std::size_t>(index)];
  std::vector<std::vector<int>> result;
  for (int first = 0; first < ranks(); ++first) {
    if (first / stride % size != 0) continue;
    auto& members = result.emplace_back();
    for (int i = 0; i < size; ++i) members.push_back(first + i * stride);
  }
  return result;
}

DeviceMesh DeviceMesh::sub(const std::vector<std::string>& axes) const {
  MeshSpec spec;
  std::vector<bool> kept(spec_.axes.size(), false);
  for (const std::string& axis : axes) kept[static_cast<std::size_t>(index_of(axis))] = true;
  std::vector<int> members = {rank_};  // ranks of this mesh
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    spec.axes.push_back(spec_.axes[i]);
    spec.shape.push_back(spec_.shape[i]);
    const int stride = stride_of(static_cast<int>(i));
    std::vector<int> grown;
    for (const int member : members)
      for (int c = 0; c < spec_.shape[i]; ++c)
        grown.push_back(member + (c - member / stride % spec_.shape[i]) * stride);
    members = std::move(grown);
  }
  validate(spec, static_cast<int>(members.size()));
  for (int& member : members) member = members_[static_cast<std::size_t>(member)];
  return {groups_, std::move(spec), std::move(members)};
}

DeviceMesh DeviceMesh::with_axes(MeshSpec spec) const {
  validate(spec, ranks());
  DeviceMesh mesh(groups_, std::move(spec), members_);
  for (const std::string& axis : mesh.spec_.axes) mesh.group(axis);
  return mesh;
}

DeviceMesh DeviceMesh::flatten(const std::vector<std::string>& axes, const std::string& name) {
  if (axes.empty()) throw Refusal(fmt::format("no axes to flatten into '{}'; name at least one", name));
  const auto first = static_cast<std::size_t>(index_of(axes.front()));
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (static_cast<std::size_t>(index_of(axes[i])) != first + i)
      throw Refusal(fmt::format("axes {} of mesh {} are not neighbours in this order; flatten adjacent axes",
                                comma_list(axes), to_string(spec_)));
  MeshSpec spec = spec_;
  for (std::size_t i = 1; i < axes.size(); ++i) spec.shape[first] *= spec_.shape[first + i];
  const auto from = static_cast<std::ptrdiff_t>(first);
  const auto end = from + static_cast<std::ptrdiff_t>(axes.size());
  spec.shape.erase(spec.shape.begin() + from + 1, spec.shape.begin() + end);
  spec.axes.erase(spec.axes.begin() + from + 1, spec.axes.begin() + end);
  spec.axes[first] = name;
  return with_axes(std::move(spec));
}

DeviceMesh DeviceMesh::unflatten(const std::string& axis, const std::vector<int>& sizes,
                                 const std::vector<std::string>& names) {
  const auto index = static_cast<std::ptrdiff_t>(index_of(axis));
  try {
    validate({sizes, names}, size(axis));
  } catch (const Refusal& refusal) {
    throw Refusal(fmt::format("mesh axis '{}' of size {} as ({}): {}", axis, size(axis), comma_list(sizes),
                              refusal.what()));
  }
  MeshSpec spec = spec_;
  spec.shape.erase(spec.shape.begin() + index);
  spec.axes.erase(spec.axes.begin() + index);
  spec.shape.insert(spec.shape.begin() + index, sizes.begin(), sizes.end());
  spec.axes.insert(spec.axes.begin() + index, names.begin(), names.end());
  return with_axes(std::move(spec));
}

}  // namespace tpc
