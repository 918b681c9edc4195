// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/probes.hpp"

#include <gtest/gtest.h>

#include "harness/judge/inputs/inputs.hpp"

namespace tpc {
namespace {

using Kind = Generator::Kind;

Problem probe_problem(Kind kind, double base, std::int64_t ranks, DType dtype = DType::f64) {
  Problem problem;
  problem.dtype = dtype;
  problem.inputs = {{"in", {ranks, 10}, {kind, base}}};
  return problem;
}

std::vector<double> sum_over_ranks(const Problem& problem, const std::vector<int>& times) {
  const std::vector<double> in = draw_rounded(problem, problem.inputs[0]);
  std::vector<double> sum(10, 0.0);
  for (std::size_t r = 0; r < times.size(); ++r)
    for (std::size_t j = 0; j < 10; ++j) sum[j] += times[r] * in[r * 10 + j];
  return sum;
}

TEST(Probes, OwnedElementsSumToOne) {
  const Problem problem = probe_problem(Kind::contribution, 0, 4);
  EXPECT_EQ(sum_over_ranks(problem, {1, 1, 1, 1}), std::vector<double>(10, 1.0));

  const std::vector<double> wrong = sum_over_ranks(problem, {1, 0, 2, 1});

  EXPECT_EQ(read_probe(problem, problem.inputs[0], 5, 1, wrong[5]), "the part of rank 1 is missing");
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 6, 1, wrong[6]), "the part of rank 2 came 2 times");
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 0, 1, 0.25), "the part of rank 0 came times 0.25");
}

TEST(Probes, DigitsOfASumCountTheContributors) {
  const Problem problem = probe_problem(Kind::contribution, 16, 4);
  const std::vector<double> right = sum_over_ranks(problem, {1, 1, 1, 1});
  const std::vector<double> wrong = sum_over_ranks(problem, {1, 0, 15, 1});

  EXPECT_EQ(counts_in_sum(wrong[3], 4), (std::vector<int>{1, 0, 15, 1}));
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 3, right[3], wrong[3]),
            "rank 1 took part 0 times instead of 1, rank 2 took part 15 times instead of 1");
  EXPECT_TRUE(counts_in_sum(0.5, 4).empty());
  EXPECT_TRUE(counts_in_sum(-1, 4).empty());
  EXPECT_TRUE(counts_in_sum(65536, 4).empty());
}

TEST(Probes, TooManyContributorsAreRefused) {
  const Problem f32 = probe_problem(Kind::contribution, 16, 7, DType::f32);
  EXPECT_THROW(draw_rounded(f32, f32.inputs[0]), ContractError);
  const Problem f64 = probe_problem(Kind::contribution, 16, 13);
  EXPECT_NO_THROW(draw_rounded(f64, f64.inputs[0]));
}

TEST(Probes, ProvenanceTellsRankAndElement) {
  const Problem problem = probe_problem(Kind::provenance, 0, 3);
  const std::vector<double> in = draw_rounded(problem, problem.inputs[0]);

  EXPECT_EQ(in[17], 18);
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 2, 3, in[17]), "this is element 7 of rank 1's input");
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 2, 3, 0), "");
  EXPECT_EQ(read_probe(problem, problem.inputs[0], 2, 3, 1000), "");
}

TEST(Probes, ProvenanceIsExactInEveryDtype) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    Problem problem = probe_problem(Kind::provenance, 0, 3, dtype);
    problem.inputs[0].shape = {3, 400};
    EXPECT_EQ(draw_rounded(problem, problem.inputs[0]), draw(problem, problem.inputs[0], {0, 0}, {3, 400}));
  }
}

}  // namespace
}  // namespace tpc
