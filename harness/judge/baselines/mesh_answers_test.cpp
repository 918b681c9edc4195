// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/mesh_answers.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

using Values = std::vector<double>;
using View = MeshProblem::View;

Values answer(const MeshProblem& problem, const std::string& name) {
  return mesh_answers(problem).answers.at(name).value.values;
}

const MeshSpec grid = {{2, 3}, {"dp", "tp"}};
const MeshSpec cube = {{2, 2, 2}, {"pp", "dp", "tp"}};

TEST(MeshAnswers, WholeMesh) {
  const MeshProblem whole = {View::whole, grid, {}, {}};
  EXPECT_EQ(answer(whole, "coordinates"), (Values{0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2}));
  EXPECT_EQ(answer(whole, "rank"), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(answer(whole, "group.tp"), (Values{0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(answer(whole, "group.dp"), (Values{0, 3, 1, 4, 2, 5, 0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(answer(whole, "groups.tp"), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(answer(whole, "groups.dp"), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(mesh_answers(whole).answers.at("members").value.shape, (Shape{6, 6}));
}

TEST(MeshAnswers, SubMesh) {
  const MeshProblem plane = {View::sub, cube, {"tp", "pp"}, {}};
  EXPECT_EQ(answer(plane, "coordinates"), (Values{0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(answer(plane, "rank"), (Values{0, 1, 0, 1, 2, 3, 2, 3}));
  const Values members = answer(plane, "members");
  EXPECT_EQ(Values(members.begin(), members.begin() + 4), (Values{0, 1, 4, 5}));
  EXPECT_EQ(Values(members.begin() + 8, members.begin() + 12), (Values{2, 3, 6, 7}));
  EXPECT_EQ(answer(plane, "groups.pp"), (Values{0, 2, 1, 3}));
}

TEST(MeshAnswers, JoinedAndCutAxes) {
  const MeshProblem flat = {View::flatten, cube, {"pp", "dp"}, {{4}, {"x"}}};
  EXPECT_EQ(answer(flat, "coordinates"), (Values{0, 0, 0, 1, 1, 0, 1, 1, 2, 0, 2, 1, 3, 0, 3, 1}));
  EXPECT_EQ(answer(flat, "groups.x"), (Values{0, 2, 4, 6, 1, 3, 5, 7}));
  const MeshProblem cut = {View::unflatten, {{2, 4}, {"dp", "tp"}}, {"tp"}, {{2, 2}, {"kv", "copies"}}};
  EXPECT_EQ(answer(cut, "coordinates"), answer({View::whole, cube, {}, {}}, "coordinates"));
  EXPECT_EQ(answer(cut, "groups.kv"), (Values{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(answer(cut, "groups.copies"), (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(MeshAnswers, WhatCannotBeHasNone) {
  const MeshSpec square{{2, 2}, {"dp", "tp"}};
  for (const MeshProblem& problem :
       std::vector<MeshProblem>{{View::whole, {{2, 1}, {"tp", "tp"}}, {}, {}},
                                {View::whole, {{2, 2}, {"tp"}}, {}, {}},
                                {View::whole, {{}, {}}, {}, {}},
                                {View::whole, {{0, 2}, {"dp", "tp"}}, {}, {}},
                                {View::sub, square, {"ep"}, {}},
                                {View::flatten, cube, {"pp", "tp"}, {{4}, {"x"}}},
                                {View::flatten, cube, {"tp", "dp"}, {{4}, {"x"}}},
                                {View::flatten, cube, {"dp", "tp"}, {{}, {"pp"}}},
                                {View::flatten, cube, {"dp", "tp"}, {{4}, {"pp"}}},
                                {View::unflatten, {{8}, {"tp"}}, {"tp"}, {{3, 2}, {"a", "b"}}},
                                {View::unflatten, square, {"tp"}, {{2, 1}, {"dp", "b"}}}})
    EXPECT_THROW(mesh_answers(problem), ContractError) << to_string(problem.mesh);
}

}  // namespace
}  // namespace tpc
