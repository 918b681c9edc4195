// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reference/collective_runner.hpp"

namespace tpc {

namespace {

DeviceMesh view_of_mesh(DeviceMesh& mesh, const MeshProblem& problem) {
  switch (problem.view) {
    case MeshProblem::View::whole:
      return mesh;
    case MeshProblem::View::sub:
      return mesh.sub(problem.axes);
    case MeshProblem::View::flatten:
      return mesh.flatten(problem.axes, problem.into.axes.at(0));
    case MeshProblem::View::unflatten:
      return mesh.unflatten(problem.axes.at(0), problem.into.shape, problem.into.axes);
  }
  return mesh;
}

Tensor row_of_integers(const std::vector<int>& values, const std::string& label) {
  const Tensor row = host_tensor(DType::i64, {static_cast<std::int64_t>(values.size())}, label);
  std::copy(values.begin(), values.end(), row.data<std::int64_t>());
  return row;
}

// Collects what the ranks of a world see, each its own row.
class MeshRows {
 public:
  MeshRows(Response& response, const Communicator& world) : response_(response), world_(world) {}

  void add(const std::string& name, const Tensor& row) {
    const Shape global = {world_.size(), row.count()};
    response_.tensors.push_back(
        {name, row.reshaped({1, row.count()}), shard(global, 0, world_.rank(), world_.size())});
  }
  void add_number(const std::string& name, int value) {
    response_.tensors.push_back(
        {name, row_of_integers({value}, name), shard({world_.size()}, 0, world_.rank(), world_.size())});
  }
  void add_common(const std::string& name, const std::vector<std::vector<int>>& table) {
    std::vector<int> values;
    for (const auto& row : table) values.insert(values.end(), row.begin(), row.end());
    const Shape shape = {static_cast<std::int64_t>(table.size()),
                         static_cast<std::int64_t>(values.size() / table.size())};
    response_.tensors.push_back({name, row_of_integers(values, name).reshaped(shape), replicate(shape)});
  }
  // The world ranks of a group, as the group itself tells them.
  void add_members(const std::string& name, Communicator& group) {
    const Tensor all = host_tensor(DType::i64, {group.size()}, name);
    group.all_gather(all, row_of_integers({world_.rank()}, "rank"));
    add(name, all);
  }

 private:
  Response& response_;
  const Communicator& world_;
};

}  // namespace

Response run_mesh(const Request& request, const CommunicatorPtr& ranks) {
  const MeshProblem& problem = *request.problem.mesh();
  DeviceMesh mesh(ranks, problem.mesh);
  const DeviceMesh view = view_of_mesh(mesh, problem);

  Response response;
  response.status = Response::Status::result;
  MeshRows rows(response, *ranks);
  rows.add("coordinates", row_of_integers(view.coordinates(), "coordinates"));
  rows.add_number("rank", view.rank());
  rows.add_members("members", view.world());
  for (const std::string& axis : view.spec().axes) {
    rows.add_members("group." + axis, view.group(axis));
    rows.add_common("groups." + axis, view.groups(axis));
  }
  return response;
}

}  // namespace tpc
