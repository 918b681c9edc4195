// SPDX-License-Identifier: Apache-2.0
#include "harness/values/boxes.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

TEST(Boxes, ShareElements) {
  const Box a = {{0, 0}, {4, 4}};
  EXPECT_TRUE(share_elements(a, {{3, 3}, {4, 4}}));
  EXPECT_FALSE(share_elements(a, {{4, 0}, {4, 4}}));
  EXPECT_FALSE(share_elements(a, {{0, 4}, {4, 4}}));
  EXPECT_FALSE(share_elements(a, {{1, 1}, {0, 2}})) << "nothing lies in an empty box";
  EXPECT_TRUE(share_elements({{}, {}}, {{}, {}})) << "scalars";
}

TEST(Boxes, LieInside) {
  EXPECT_TRUE(lies_inside({{2}, {3}}, {5}));
  EXPECT_FALSE(lies_inside({{2}, {4}}, {5}));
  EXPECT_FALSE(lies_inside({{-1}, {1}}, {5}));
  EXPECT_FALSE(lies_inside({{0}, {-1}}, {5}));
  EXPECT_FALSE(lies_inside({{0, 0}, {1, 1}}, {5}));
  EXPECT_TRUE(lies_inside({{}, {}}, {}));
}

TEST(Boxes, EqualOnesDoNotOverlapPartly) {
  EXPECT_FALSE(partly_overlap({{{0}, {4}}, {{0}, {4}}, {{4}, {2}}, {{2}, {0}}}));
  EXPECT_TRUE(partly_overlap({{{0}, {4}}, {{0}, {3}}}));
}

TEST(Boxes, PartsOfAllAreEqualOrDisjoint) {
  const std::vector<Box> boxes = {{{0, 0}, {4, 4}}, {{2, 1}, {4, 2}}, {{3, 0}, {1, 5}}};
  std::vector<Box> parts;
  std::int64_t elements = 0;
  for (const Box& box : boxes)
    for (const Box& part : cut(box, boxes)) {
      parts.push_back(part);
      elements += element_count(part.extent);
    }
  EXPECT_FALSE(partly_overlap(parts));
  EXPECT_EQ(elements, 16 + 8 + 5);
}

TEST(Boxes, TheUncoveredElementIsFound) {
  EXPECT_FALSE(uncovered_element({4, 4}, {{{0, 0}, {2, 4}}, {{2, 0}, {2, 4}}}));
  EXPECT_FALSE(uncovered_element({4, 4}, {{{0, 0}, {3, 4}}, {{1, 0}, {3, 4}}})) << "with a common part";
  EXPECT_EQ(uncovered_element({4, 4}, {{{0, 0}, {2, 4}}, {{2, 0}, {2, 3}}}), (Shape{2, 3}));
  EXPECT_EQ(uncovered_element({4, 4}, {{{0, 0}, {2, 4}}, {{1, 0}, {2, 4}}}), (Shape{3, 0}))
      << "sixteen elements, four of them twice";
  EXPECT_EQ(uncovered_element({2}, {}), Shape{0});
  EXPECT_EQ(uncovered_element({}, {}), Shape{});
  EXPECT_FALSE(uncovered_element({}, {{{}, {}}}));
  EXPECT_FALSE(uncovered_element({0, 3}, {}));
}

TEST(Boxes, RunsFollowTheLastDim) {
  std::vector<Shape> starts;
  std::int64_t elements = 0;
  for_each_run_of({{1, 2, 3}, {2, 1, 4}}, [&](const Shape& index, std::int64_t count) {
    starts.push_back(index);
    elements += count;
  });
  EXPECT_EQ(starts, (std::vector<Shape>{{1, 2, 3}, {2, 2, 3}}));
  EXPECT_EQ(elements, 8);

  int calls = 0;
  for_each_run_of({{}, {}}, [&](const Shape&, std::int64_t count) { calls += static_cast<int>(count); });
  for_each_run_of({{5}, {3}}, [&](const Shape&, std::int64_t count) { calls += static_cast<int>(count); });
  for_each_run_of({{5, 1}, {3, 0}},
                  [&](const Shape&, std::int64_t count) { calls += static_cast<int>(count); });
  EXPECT_EQ(calls, 4);
}

TEST(Boxes, IndicesAndTheirPlaces) {
  EXPECT_EQ(linear_index({3, 4, 5}, {2, 1, 3}), 48);
  EXPECT_EQ(index_at({3, 4, 5}, 48), (Shape{2, 1, 3}));
  EXPECT_EQ(linear_index({}, {}), 0);
  EXPECT_EQ(index_at({}, 0), Shape{});
}

}  // namespace
}  // namespace tpc
