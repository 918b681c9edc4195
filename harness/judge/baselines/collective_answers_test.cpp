// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/collective_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc {
namespace {

using Values = std::vector<double>;

// Three ranks; provenance numbers the elements of all of them 1, 2, 3, ...
baseline::Solution answers_of(CollectiveKind kind, std::int64_t count, ReduceOp op = ReduceOp::sum,
                              int root = 0, int repeats = 1) {
  Problem problem;
  const CollectiveProblem call{
      .kind = kind, .op = op, .count = count, .root = root, .repeats = repeats, .members = {}};
  problem.asked = call;
  problem.inputs = {{"in", collective_input_shape(call, 3), {.kind = Generator::Kind::provenance}}};
  return collective_answers(problem);
}

Values out_of(CollectiveKind kind, std::int64_t count, ReduceOp op = ReduceOp::sum, int root = 0) {
  return answers_of(kind, count, op, root).answers.at("out").value.values;
}

TEST(CollectiveAnswers, Reductions) {
  // Ranks hold 1 2, 3 4, 5 6.
  EXPECT_EQ(out_of(CollectiveKind::all_reduce, 2), (Values{9, 12, 9, 12, 9, 12}));
  EXPECT_EQ(out_of(CollectiveKind::all_reduce, 2, ReduceOp::max), (Values{5, 6, 5, 6, 5, 6}));
  EXPECT_EQ(out_of(CollectiveKind::all_reduce, 2, ReduceOp::min), (Values{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(out_of(CollectiveKind::all_reduce, 2, ReduceOp::product), (Values{15, 48, 15, 48, 15, 48}));
  // Ranks hold 1 2 3, 4 5 6, 7 8 9: the sum is 12 15 18.
  EXPECT_EQ(out_of(CollectiveKind::reduce_scatter, 1), (Values{12, 15, 18}));
}

TEST(CollectiveAnswers, Movements) {
  EXPECT_EQ(out_of(CollectiveKind::all_gather, 1), (Values{1, 2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(out_of(CollectiveKind::all_to_all, 1), (Values{1, 4, 7, 2, 5, 8, 3, 6, 9}));
  EXPECT_EQ(out_of(CollectiveKind::all_to_all, 2),
            (Values{1, 2, 7, 8, 13, 14, 3, 4, 9, 10, 15, 16, 5, 6, 11, 12, 17, 18}));
  EXPECT_EQ(out_of(CollectiveKind::broadcast, 2, ReduceOp::sum, 1), (Values{3, 4, 3, 4, 3, 4}));
  EXPECT_EQ(out_of(CollectiveKind::point_to_point, 2), (Values{5, 6, 1, 2, 3, 4}));
}

TEST(CollectiveAnswers, NothingIsLegal) {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
    EXPECT_TRUE(out_of(kind, 0).empty());
}

TEST(CollectiveAnswers, RepeatsAskForEqualBits) {
  const auto answers = answers_of(CollectiveKind::all_reduce, 2, ReduceOp::sum, 0, 5).answers;
  EXPECT_EQ(answers.at("unequal").value.values, (Values{0, 0, 0}));
  EXPECT_EQ(answers.at("copies").value.values, (Values{9, 12}));
  EXPECT_FALSE(answers_of(CollectiveKind::reduce_scatter, 2, ReduceOp::sum, 0, 5).answers.contains("copies"));
  EXPECT_EQ(answers_of(CollectiveKind::all_reduce, 2).answers.size(), 1U);
}

TEST(CollectiveAnswers, ScalesAreSumsOfMagnitudes) {
  const baseline::Answer sum = answers_of(CollectiveKind::all_reduce, 2).answers.at("out");
  EXPECT_EQ(sum.scale_max, 12);
  EXPECT_DOUBLE_EQ(sum.scale_norm, std::sqrt(3.0 * (81 + 144)));
}

}  // namespace
}  // namespace tpc
