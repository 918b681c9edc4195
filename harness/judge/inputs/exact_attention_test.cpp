// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/exact_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/inputs.hpp"

namespace tpc {
namespace {

using Kind = Generator::Kind;

Problem attention_problem(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim,
                          std::int64_t sequence, bool causal) {
  Problem problem;
  problem.asked = Operation::attention;
  problem.seed = 5;
  problem.batch = 2;
  problem.sequence = sequence;
  problem.model.hidden = 32;
  problem.model.heads = heads;
  problem.model.kv_heads = kv_heads;
  problem.model.head_dim = head_dim;
  problem.model.causal = causal;
  const Generator data = {Kind::sparse, 0, 0, 0.5};
  Generator x = data;
  x.kind = Kind::attention_x;
  Generator v = data;
  v.kind = Kind::attention_v;
  problem.inputs = {{"x", {sequence, 2, 32}, x},
                    {"q.weight", {heads * head_dim, 32}, {Kind::attention_q}},
                    {"q.bias", {heads * head_dim}, {Kind::attention_q}},
                    {"k.weight", {kv_heads * head_dim, 32}, {Kind::attention_k}},
                    {"k.bias", {kv_heads * head_dim}, {Kind::attention_k}},
                    {"v.weight", {kv_heads * head_dim, 32}, v}};
  return problem;
}

// weight [rows, 32] times row r of x, plus bias.
double project(const Problem& problem, const std::string& which, std::int64_t head, std::int64_t dim,
               const double* x) {
  const std::int64_t row = head * problem.model.head_dim + dim;
  const std::vector<double> weight =
      draw(problem, input_named(problem, which + ".weight"), {row, 0}, {1, 32});
  double sum = draw(problem, input_named(problem, which + ".bias"), {row}, {1})[0];
  for (std::size_t c = 0; c < 32; ++c) sum += weight[c] * x[c];
  return sum;
}

std::vector<double> head_vectors(const Problem& problem, const std::string& which, std::int64_t head,
                                 const std::vector<double>& x, std::int64_t batch_entry) {
  std::vector<double> vectors;
  for (std::int64_t s = 0; s < problem.sequence; ++s)
    for (std::int64_t d = 0; d < problem.model.head_dim; ++d)
      vectors.push_back(
          project(problem, which, head, d, &x[static_cast<std::size_t>((s * 2 + batch_entry) * 32)]));
  return vectors;
}

// The scores of a query against the keys it sees, largest first.
std::vector<double> sorted_scores(const Problem& problem, const std::vector<double>& q,
                                  const std::vector<double>& k, std::int64_t position) {
  const std::int64_t dims = problem.model.head_dim;
  const std::int64_t keys = problem.model.causal ? position + 1 : problem.sequence;
  std::vector<double> scores;
  for (std::int64_t j = 0; j < keys; ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < dims; ++d)
      score += q[static_cast<std::size_t>(position * dims + d)] * k[static_cast<std::size_t>(j * dims + d)];
    scores.push_back(score * attention_scale(problem.model));
  }
  std::sort(scores.rbegin(), scores.rend());
  return scores;
}

void expect_hard(const Problem& problem) {
  const std::vector<double> x = draw(problem, problem.inputs[0], {0, 0, 0}, problem.inputs[0].shape);
  for (std::int64_t head = 0; head < problem.model.heads; ++head) {
    const std::int64_t kv_head = head / (problem.model.heads / problem.model.kv_heads);
    for (std::int64_t b = 0; b < 2; ++b) {
      const std::vector<double> q = head_vectors(problem, "q", head, x, b);
      const std::vector<double> k = head_vectors(problem, "k", kv_head, x, b);
      for (std::int64_t position = 0; position < problem.sequence; ++position) {
        const std::vector<double> scores = sorted_scores(problem, q, k, position);
        const auto tied = std::count(scores.begin(), scores.end(), scores[0]);
        EXPECT_EQ(static_cast<std::size_t>(tied), std::min<std::size_t>(2, scores.size()))
            << "head " << head << " position " << position;
        if (static_cast<std::size_t>(tied) < scores.size()) {
          EXPECT_GE(scores[0] - scores[static_cast<std::size_t>(tied)], 1024);
        }
      }
    }
  }
}

TEST(ExactAttention, TwoKeysTieAndAllOthersAreFarBelow) {
  expect_hard(attention_problem(4, 2, 4, 8, true));
  expect_hard(attention_problem(2, 1, 16, 15, true));
  expect_hard(attention_problem(4, 4, 4, 12, false));
  expect_hard(attention_problem(2, 2, 64, 16, false));
  expect_hard(attention_problem(4, 2, 4, 24, true));
  expect_hard(attention_problem(2, 1, 4, 48, false));
  expect_hard(attention_problem(2, 2, 4, 2, true));
  expect_hard(attention_problem(2, 2, 4, 1, true));
  EXPECT_EQ(std::exp(-1024.0), 0);
}

TEST(ExactAttention, TiedKeysDiffer) {
  const Problem problem = attention_problem(2, 2, 4, 8, true);
  const std::vector<double> x = draw(problem, problem.inputs[0], {0, 0, 0}, problem.inputs[0].shape);

  const std::vector<double> k = head_vectors(problem, "k", 1, x, 0);

  for (std::ptrdiff_t pair = 0; pair < 4; ++pair)
    EXPECT_FALSE(std::equal(k.begin() + pair * 8, k.begin() + pair * 8 + 4, k.begin() + pair * 8 + 4));
}

TEST(ExactAttention, ValuesDoNotReadTheCode) {
  const Problem problem = attention_problem(4, 2, 4, 8, true);
  const AttentionCode code(problem);
  const std::vector<double> weight = draw(problem, input_named(problem, "v.weight"), {0, 0}, {8, 32});
  double rest = 0;
  for (std::int64_t row = 0; row < 8; ++row)
    for (std::int64_t c = 0; c < 32; ++c) {
      const double value = std::fabs(weight[static_cast<std::size_t>(row * 32 + c)]);
      if (c < code.columns())
        EXPECT_EQ(value, 0);
      else
        rest += value;
    }
  EXPECT_GT(rest, 0);
}

TEST(ExactAttention, WhatCannotBeIsSaid) {
  const Problem odd_scale = attention_problem(4, 2, 8, 8, true);
  EXPECT_THROW(draw(odd_scale, odd_scale.inputs[1], {0, 0}, {1, 32}), ContractError);
  const Problem small_head = attention_problem(4, 2, 4, 64, true);
  EXPECT_THROW(draw(small_head, small_head.inputs[0], {0, 0, 0}, {1, 1, 1}), ContractError);
}

}  // namespace
}  // namespace tpc
