// SPDX-License-Identifier: Apache-2.0
// Claim: every rank finds itself and its groups where the mesh says; a mesh that cannot be is refused by
// name.
#include <algorithm>

#include "suites/suites.hpp"

namespace tpc {

namespace {

using View = MeshProblem::View;

struct MeshCase {
  std::string name;
  MeshProblem problem;
  std::string statement;
  int ranks = 0;                          // 0: as many as the mesh has
  std::vector<std::string> refusal = {};  // what the reason names; empty: it is answered
};

std::string shape_text(const std::vector<int>& shape) {
  std::string text;
  for (const int size : shape) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text;
}

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "_") + name;
  return text;
}

MeshCase whole(const MeshSpec& mesh) {
  return {"whole/" + shape_text(mesh.shape) + "_" + joined_names(mesh.axes),
          {View::whole, mesh, {}, {}},
          fmt::format(
              "on a mesh {} every rank has the coordinates of its place with the last axis fastest, and the "
              "group of each axis holds the ranks that differ in that coordinate alone",
              to_string(mesh))};
}

MeshCase sub(const MeshSpec& mesh, const std::vector<std::string>& axes) {
  return {"sub/" + shape_text(mesh.shape) + "_" + joined_names(axes),
          {View::sub, mesh, axes, {}},
          fmt::format("the sub-mesh of {} of a mesh {} holds the ranks with this rank's other coordinates",
                      joined_names(axes), to_string(mesh))};
}

MeshCase flatten(const MeshSpec& mesh, const std::vector<std::string>& axes) {
  int size = 1;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i)
    if (std::find(axes.begin(), axes.end(), mesh.axes[i]) != axes.end()) size *= mesh.shape[i];
  return {"flatten/" + shape_text(mesh.shape) + "_" + joined_names(axes),
          {View::flatten, mesh, axes, {{size}, {"flat"}}},
          fmt::format("axes {} of a mesh {} seen as one keep their ranks in order", joined_names(axes),
                      to_string(mesh))};
}

MeshCase unflatten(const MeshSpec& mesh, const std::string& axis, const MeshSpec& into) {
  return {"unflatten/" + shape_text(mesh.shape) + "_" + axis + "_as_" + shape_text(into.shape),
          {View::unflatten, mesh, {axis}, into},
          fmt::format("axis {} of a mesh {} seen as {} keeps its ranks in order, the last axis fastest", axis,
                      to_string(mesh), to_string(into))};
}

MeshCase refused(const std::string& name, const MeshProblem& problem, int ranks,
                 std::vector<std::string> words) {
  return {
      "refused/" + name, problem,
      fmt::format("{} is refused by every rank before any collective, with a reason that says what is wrong",
                  name),
      ranks, std::move(words)};
}

std::vector<MeshCase> whole_meshes() {
  return {whole({{1}, {"tp"}}),
          whole({{2}, {"tp"}}),
          whole({{3}, {"tp"}}),
          whole({{6}, {"tp"}}),
          whole({{8}, {"tp"}}),
          whole({{1, 1, 1}, {"pp", "dp", "tp"}}),
          whole({{1, 3}, {"dp", "tp"}}),
          whole({{3, 1}, {"dp", "tp"}}),
          whole({{2, 2}, {"dp", "tp"}}),
          whole({{3, 2}, {"dp", "tp"}}),
          whole({{2, 3}, {"dp", "tp"}}),
          whole({{2, 4}, {"dp_replicate", "tp"}}),
          whole({{4, 2}, {"dp_shard", "tp"}}),
          whole({{2, 1, 3}, {"pp", "dp_shard", "tp"}}),
          whole({{2, 2, 2}, {"pp", "dp_shard", "tp"}}),
          whole({{2, 2, 1, 2}, {"pp", "dp_replicate", "dp_shard", "tp"}})};
}

std::vector<MeshCase> derived_meshes() {
  const MeshSpec cube{{2, 2, 2}, {"pp", "dp", "tp"}};
  const MeshSpec plank{{2, 1, 3}, {"pp", "dp", "tp"}};
  const MeshSpec line{{8}, {"tp"}};
  return {sub(cube, {"tp"}),
          sub(cube, {"pp"}),
          sub(cube, {"dp", "tp"}),
          sub(cube, {"pp", "tp"}),
          sub(cube, {"tp", "pp", "dp"}),
          sub(plank, {"pp", "dp"}),
          sub(plank, {"dp", "tp"}),
          flatten(cube, {"dp", "tp"}),
          flatten(cube, {"pp", "dp"}),
          flatten(cube, {"pp", "dp", "tp"}),
          flatten(plank, {"dp", "tp"}),
          flatten({{3, 2}, {"dp", "tp"}}, {"dp", "tp"}),
          unflatten(line, "tp", {{2, 4}, {"kv", "copies"}}),
          unflatten(line, "tp", {{4, 2}, {"kv", "copies"}}),
          unflatten(line, "tp", {{2, 2, 2}, {"a", "b", "c"}}),
          unflatten({{6, 1}, {"dp", "tp"}}, "dp", {{2, 3}, {"dp_replicate", "dp_shard"}}),
          unflatten({{1, 3}, {"dp", "tp"}}, "tp", {{3, 1}, {"kv", "copies"}})};
}

std::vector<MeshCase> impossible_meshes() {
  const MeshSpec grid{{2, 2}, {"dp", "tp"}};
  const MeshSpec cube{{2, 2, 2}, {"pp", "dp", "tp"}};
  const auto of = [](const MeshSpec& mesh) { return MeshProblem{View::whole, mesh, {}, {}}; };
  return {
      refused("product_too_large", of({{2, 3}, {"dp", "tp"}}), 4, {"6", "4"}),
      refused("product_too_small", of({{1, 2}, {"dp", "tp"}}), 3, {"2", "3"}),
      refused("repeated_name", of({{2, 1}, {"tp", "tp"}}), 2, {"'tp'", "more than once"}),
      refused("empty_name", of({{2, 1}, {"dp", ""}}), 2, {"axis 1", "name"}),
      refused("missing_name", of({{2, 2}, {"tp"}}), 4, {"2 mesh sizes", "1 axis name"}),
      refused("no_axes", of({{}, {}}), 2, {"without axes"}),
      refused("size_zero", of({{0, 2}, {"dp", "tp"}}), 2, {"'dp'", "0"}),
      refused("size_negative", of({{-2, -1}, {"dp", "tp"}}), 2, {"'dp'", "-2"}),
      refused("sub_of_unknown_axis", {View::sub, grid, {"ep"}, {}}, 0, {"'ep'", "dp", "tp"}),
      refused("flatten_of_unknown_axis", {View::flatten, grid, {"tp", "ep"}, {{}, {"x"}}}, 0,
              {"'ep'", "dp, tp"}),
      refused("flatten_of_apart_axes", {View::flatten, cube, {"pp", "tp"}, {{}, {"x"}}}, 0, {"pp, tp"}),
      refused("flatten_in_wrong_order", {View::flatten, cube, {"tp", "dp"}, {{}, {"x"}}}, 0, {"tp, dp"}),
      refused("flatten_into_a_name_there_is", {View::flatten, cube, {"dp", "tp"}, {{}, {"pp"}}}, 0, {"'pp'"}),
      refused("unflatten_of_unknown_axis", {View::unflatten, grid, {"ep"}, {{2, 1}, {"a", "b"}}}, 0,
              {"'ep'", "dp, tp"}),
      refused("unflatten_with_wrong_product", {View::unflatten, {{8}, {"tp"}}, {"tp"}, {{3, 2}, {"a", "b"}}},
              0, {"'tp'", "6", "8"}),
      refused("unflatten_into_a_name_there_is", {View::unflatten, grid, {"tp"}, {{2, 1}, {"dp", "b"}}}, 0,
              {"'dp'"}),
  };
}

Case case_of(const MeshCase& m, std::uint64_t seed) {
  Case c;
  c.suite = "mesh";
  c.name = m.name;
  c.tier = Tier::exact;
  c.ranks = m.ranks;
  c.statement = m.statement;
  c.expectation = m.refusal.empty() ? Expectation::answers : Expectation::refusal;
  c.reason_words = m.refusal;
  c.request.mesh = m.problem.mesh;
  c.request.script = {Action::forward};
  c.request.problem.asked = m.problem;
  c.request.problem.seed = seed;
  return c;
}

}  // namespace

// A mesh has no degree of its own to choose: all cases are listed whatever --tp says.
Suite mesh_suite(const SuiteOptions& options) {
  Suite suite{"mesh", {}, {}};
  if (options.tiers_given &&
      std::find(options.tiers.begin(), options.tiers.end(), Tier::exact) == options.tiers.end())
    return suite;
  for (const auto& list : {whole_meshes(), derived_meshes(), impossible_meshes()})
    for (const MeshCase& m : list) suite.cases.push_back(case_of(m, options.seed));
  return suite;
}

}  // namespace tpc
