// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/contributions.hpp"

#include <gtest/gtest.h>

#include "harness/compare_fixture.hpp"
#include "harness/configuration/configuration.hpp"
#include "reference/comm/local.hpp"

namespace tpc {
namespace {

// Terms and rest add up to the whole by construction; that the rest is nothing but a bias is what shows that
// the terms are the right ones.
void expect_rest(const std::string& line, const std::string& name, bool has_rest) {
  const Case c = case_of(configuration_of(line), "one");
  const auto solution = baseline::solve(c.request.problem.operation, c.request.problem.model,
                                        baseline_inputs(c.request.problem));
  const baseline::Dense& right = solution.answers.at(name).value;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    const TensorEvidence tensor{name, right.shape, right.values, {}, 0, 0x1p-53, 2};
    const std::vector<Contributions> sums = contributions_to(tensor, c.request, *ranks);
    ASSERT_EQ(sums.size(), 1U) << line << ' ' << name;
    ASSERT_EQ(sums[0].terms.size(), 2U);
    EXPECT_EQ(norm(sums[0].rest) > 0, has_rest) << line << ' ' << name;
    for (const auto& term : sums[0].terms) EXPECT_GT(norm(term), 0) << line << ' ' << name;
    EXPECT_GT(distance(sums[0].terms[0], sums[0].terms[1]), 0);
  });
}

TEST(Contributions, AddUp) {
  const std::string attention =
      "op=attention,tp=2,seq=3,hidden=4,heads=2,kv_heads=1,head_dim=3,qkv_bias=1,out_bias=1";
  expect_rest("op=row_linear,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "y", true);
  expect_rest("op=row_linear,tp=2,seq=2,hidden=3,ffn=4", "y", false);
  expect_rest("op=column_linear,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "dx", false);
  expect_rest("op=mlp,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "y", true);
  expect_rest("op=mlp,tp=2,seq=2,hidden=3,ffn=4,mlp=swiglu", "dx", false);
  expect_rest(attention, "y", true);
  expect_rest(attention, "dx", false);
  expect_rest(attention, "grad.k.weight", false);
  expect_rest(attention, "grad.v.bias", false);
  expect_rest("op=vocab_embedding,tp=2,seq=9,hidden=3,vocab=5,padded_vocab=6", "y", false);
  expect_rest("op=rms_norm,tp=2,sp=kept,seq=4,hidden=3", "grad.gain", false);
  expect_rest("op=row_linear,tp=2,sp=kept,seq=4,hidden=3,ffn=4,mlp_bias=1", "grad.bias", false);
}

}  // namespace
}  // namespace tpc
