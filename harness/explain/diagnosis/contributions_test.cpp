// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/contributions.hpp"

#include <gtest/gtest.h>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/compare/fixture.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

// Terms and rest add up to the whole by construction; that the rest is nothing but a bias (its name, or
// empty) is what shows that the terms are the right ones.
void expect_rest(const std::string& line, const std::string& name, const std::string& bias) {
  const Case c = case_of(configuration_of(line), "one");
  const auto solution = baseline::solve(c.request.problem.operation(), c.request.problem.model,
                                        baseline_inputs(c.request.problem));
  const baseline::Dense& right = solution.answers.at(name).value;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    const TensorEvidence tensor{name, right.shape, right.values, {}, 0, 0x1p-53, 2};
    const std::vector<Contributions> sums = contributions_to(tensor, c.request, *ranks);
    ASSERT_EQ(sums.size(), 1U) << line << ' ' << name;
    ASSERT_EQ(sums[0].terms.size(), 2U);
    const std::vector<double>& rest = sums[0].rest;
    std::vector<double> due(rest.size(), 0);
    if (!bias.empty()) {
      const std::vector<double> values = baseline_inputs(c.request.problem).at(bias).values;
      for (std::size_t i = 0; i < due.size(); ++i) due[i] = values[i % values.size()];
    }
    EXPECT_LT(distance(rest, due), 1e-12) << line << ' ' << name;
    for (const auto& term : sums[0].terms) EXPECT_GT(norm(term), 0) << line << ' ' << name;
    EXPECT_GT(distance(sums[0].terms[0], sums[0].terms[1]), 0);
  });
}

TEST(Contributions, AddUp) {
  const std::string attention =
      "op=attention,tp=2,seq=3,hidden=4,heads=2,kv_heads=1,head_dim=3,qkv_bias=1,out_bias=1";
  expect_rest("op=row_linear,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "y", "bias");
  expect_rest("op=row_linear,tp=2,seq=2,hidden=3,ffn=4", "y", "");
  expect_rest("op=column_linear,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "dx", "");
  expect_rest("op=mlp,tp=2,seq=2,hidden=3,ffn=4,mlp_bias=1", "y", "fc2.bias");
  expect_rest("op=mlp,tp=2,seq=2,hidden=3,ffn=4,mlp=swiglu", "dx", "");
  expect_rest(attention, "y", "out.bias");
  expect_rest(attention, "dx", "");
  expect_rest(attention, "grad.k.weight", "");
  expect_rest(attention, "grad.v.bias", "");
  expect_rest("op=vocab_embedding,tp=2,seq=9,hidden=3,vocab=5,padded_vocab=6", "y", "");
  expect_rest("op=rms_norm,tp=2,sp=kept,seq=4,hidden=3", "grad.gain", "");
  expect_rest("op=row_linear,tp=2,sp=kept,seq=4,hidden=3,ffn=4,mlp_bias=1", "grad.bias", "");
}

}  // namespace
}  // namespace tpc
