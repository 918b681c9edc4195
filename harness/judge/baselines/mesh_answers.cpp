// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/mesh_answers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

using Coordinates = std::vector<int>;
using View = MeshProblem::View;

// All coordinates of a grid in the order of its ranks: the last counts up first, and carries.
std::vector<Coordinates> counted_up(const std::vector<int>& shape) {
  std::vector<Coordinates> all;
  Coordinates now(shape.size(), 0);
  for (;;) {
    all.push_back(now);
    std::size_t axis = shape.size();
    while (axis > 0 && ++now[axis - 1] == shape[axis - 1]) now[--axis] = 0;
    if (axis == 0) return all;
  }
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// By world rank: where it stands in the view, and which copy of the view it belongs to.
struct Standing {
  Coordinates inside;
  Coordinates outside;
};

// The coordinates of some axes as one: the place of their values among all there are.
int joined_coordinate(const std::vector<int>& sizes, const Coordinates& values) {
  const auto all = counted_up(sizes);
  return static_cast<int>(std::find(all.begin(), all.end(), values) - all.begin());
}

Standing standing_of(const MeshProblem& problem, const Coordinates& at) {
  Standing standing;
  std::vector<int> sizes;
  Coordinates joined;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::string& name = problem.mesh.axes[axis];
    const bool named = place_of(problem.axes, name) < problem.axes.size();
    if (problem.view == View::whole || (problem.view == View::sub) == named) {
      standing.inside.push_back(at[axis]);
    } else if (problem.view == View::sub) {
      standing.outside.push_back(at[axis]);
    } else if (problem.view == View::unflatten) {
      const Coordinates parts = counted_up(problem.into.shape)[static_cast<std::size_t>(at[axis])];
      standing.inside.insert(standing.inside.end(), parts.begin(), parts.end());
    } else {
      sizes.push_back(problem.mesh.shape[axis]);
      joined.push_back(at[axis]);
      if (name == problem.axes.back()) standing.inside.push_back(joined_coordinate(sizes, joined));
    }
  }
  return standing;
}

MeshSpec view_spec(const MeshProblem& problem) {
  MeshSpec spec;
  for (std::size_t axis = 0; axis < problem.mesh.axes.size(); ++axis) {
    const std::string& name = problem.mesh.axes[axis];
    const bool named = place_of(problem.axes, name) < problem.axes.size();
    if (problem.view == View::whole || (problem.view == View::sub) == named) {
      spec.axes.push_back(name);
      spec.shape.push_back(problem.mesh.shape[axis]);
    } else if (problem.view == View::unflatten ||
               (problem.view == View::flatten && name == problem.axes[0])) {
      spec.axes.insert(spec.axes.end(), problem.into.axes.begin(), problem.into.axes.end());
      spec.shape.insert(spec.shape.end(), problem.into.shape.begin(), problem.into.shape.end());
    }
  }
  return spec;
}

int product(const std::vector<int>& sizes) {
  int all = 1;
  for (const int size : sizes) all *= size;
  return all;
}

// What cannot be has no answer. Who refuses it is not asked for one.
void expect_possible(const MeshProblem& problem) {
  const auto sound = [](const MeshSpec& spec) {
    std::set<std::string> names(spec.axes.begin(), spec.axes.end());
    return !spec.axes.empty() && spec.shape.size() == spec.axes.size() && names.size() == spec.axes.size() &&
           *std::min_element(spec.shape.begin(), spec.shape.end()) > 0;
  };
  TPC_EXPECT(sound(problem.mesh), "a mesh {} cannot be", to_string(problem.mesh));
  std::vector<std::size_t> places;
  int size = 1;
  for (const std::string& name : problem.axes) {
    places.push_back(place_of(problem.mesh.axes, name));
    TPC_EXPECT(places.back() < problem.mesh.axes.size(), "a mesh {} has no axis '{}'",
               to_string(problem.mesh), name);
    size *= problem.mesh.shape[places.back()];
  }
  TPC_EXPECT(sound(view_spec(problem)), "a view {} cannot be", to_string(view_spec(problem)));
  if (problem.view != View::flatten && problem.view != View::unflatten) return;
  TPC_EXPECT(product(problem.into.shape) == size, "{} ranks cannot be seen as {}", size,
             to_string(problem.into));
  for (std::size_t i = 1; i < places.size(); ++i)
    TPC_EXPECT(places[i] == places[i - 1] + 1, "axes that lie apart, or in another order, cannot be one");
}

bool agree_apart_from(const Coordinates& a, const Coordinates& b, std::size_t axis) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (i != axis && a[i] != b[i]) return false;
  return true;
}

// Ranks in the order of their coordinate on the axis: world ranks come in rising order already.
std::vector<double> group_on(const std::vector<Standing>& all, std::size_t rank, std::size_t axis) {
  std::vector<double> group;
  for (std::size_t other = 0; other < all.size(); ++other)
    if (all[other].outside == all[rank].outside &&
        agree_apart_from(all[other].inside, all[rank].inside, axis))
      group.push_back(static_cast<double>(other));
  return group;
}

baseline::Answer by_rows(std::size_t rows, const std::vector<double>& values) {
  baseline::Answer answer;
  const auto columns = values.size() / rows;
  answer.value = {{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, values};
  return answer;
}

void append_all(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The groups of an axis in the ranks of the view, in the order of their first rank.
baseline::Answer listed_groups(const MeshSpec& spec, std::size_t axis) {
  std::vector<Standing> all;
  for (Coordinates& at : counted_up(spec.shape)) all.push_back({std::move(at), {}});
  std::vector<double> values;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].inside[axis] == 0) append_all(values, group_on(all, rank, axis));
  return by_rows(values.size() / static_cast<std::size_t>(spec.shape[axis]), values);
}

}  // namespace

baseline::Solution mesh_answers(const MeshProblem& problem) {
  expect_possible(problem);
  std::vector<Standing> all;
  for (const Coordinates& at : counted_up(problem.mesh.shape)) all.push_back(standing_of(problem, at));
  const MeshSpec spec = view_spec(problem);

  std::vector<double> coordinates;
  std::vector<double> ranks;
  std::vector<double> members;
  for (const Standing& self : all) {
    coordinates.insert(coordinates.end(), self.inside.begin(), self.inside.end());
    int place = 0;
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (all[other].outside != self.outside) continue;
      if (&all[other] == &self) ranks.push_back(place);
      ++place;
      members.push_back(static_cast<double>(other));
    }
  }
  baseline::Solution solution;
  solution.answers["coordinates"] = by_rows(all.size(), coordinates);
  solution.answers["rank"].value = {{static_cast<std::int64_t>(all.size())}, ranks};
  solution.answers["members"] = by_rows(all.size(), members);
  for (std::size_t axis = 0; axis < spec.axes.size(); ++axis) {
    std::vector<double> groups;
    for (std::size_t rank = 0; rank < all.size(); ++rank) append_all(groups, group_on(all, rank, axis));
    solution.answers["group." + spec.axes[axis]] = by_rows(all.size(), groups);
    solution.answers["groups." + spec.axes[axis]] = listed_groups(spec, axis);
  }
  return solution;
}

}  // namespace tpc
