// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/misreadings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/configuration/configuration.hpp"
#include "harness/diagnosis/contributions.hpp"
#include "harness/diagnosis/evidence.hpp"

namespace tpc {
namespace {

using Values = std::vector<double>;

Request request_of(const std::string& line) { return case_of(configuration_of(line), "one").request; }

const Misreading& reading(const std::vector<Misreading>& all, const std::string& title) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Misreading& misreading) {
    return misreading.title.find(title) != std::string::npos;
  });
  TPC_EXPECT(found != all.end(), "no misreading '{}'", title);
  return *found;
}

Answers answers_as_read(const std::string& line, const std::string& title) {
  const Request request = request_of(line);
  return solve_as_read(request, reading(misreadings_of(request), title));
}

Answers answers_of(const std::string& line) {
  const Request request = request_of(line);
  return baseline::solve(request.problem.operation, request.problem.model, baseline_inputs(request.problem))
      .answers;
}

void expect_near(const Answers& got, const Answers& due) {
  ASSERT_EQ(got.size(), due.size());
  for (const auto& [name, answer] : due)
    EXPECT_LE(distance(got.at(name).value.values, answer.value.values), 1e-14 * norm(answer.value.values))
        << name;
}

TEST(Misreadings, AnswerAsTheOtherDefinitionDoes) {
  const std::string mlp = "op=mlp,tp=2,seq=3,hidden=4,ffn=8,gelu=";
  expect_near(answers_as_read(mlp + "erf", "gelu tanh where erf is asked"), answers_of(mlp + "tanh"));
  const std::string attention =
      "op=attention,tp=2,seq=3,hidden=4,heads=2,kv_heads=2,head_dim=8,position=rotary";
  expect_near(answers_as_read(attention, "an attention scale of 0.5 ("),
              answers_of(attention + ",scale=0.5"));
  expect_near(answers_as_read(attention + ",causal=1", "no causal mask"),
              answers_of(attention + ",causal=0"));
  expect_near(answers_as_read(attention, "neighbouring pairs"),
              answers_of(attention + ",rotary=interleaved"));
  // One number may be right for two reasons.
  EXPECT_NO_THROW(
      reading(misreadings_of(request_of("op=attention,tp=4,hidden=8,heads=4,kv_heads=4,head_dim=4")),
              "an attention scale of 1 (none; sqrt T/sqrt D, of the part of a head's width"));
  const std::string norm = "op=rms_norm,tp=2,seq=3,hidden=4,eps=";
  expect_near(answers_as_read(norm + "1e-6", "a norm eps of 1e-05 where 1e-06 is asked"),
              answers_of(norm + "1e-5"));
  const std::string loss = "op=vocab_cross_entropy,tp=2,seq=9,vocab=6,ignored=0.4,smoothing=0.1";
  expect_near(answers_as_read(loss, "over all tokens where"), answers_of(loss + ",mean_over=all"));
  expect_near(answers_as_read(loss, "over the other classes"), answers_of(loss + ",smoothing_over=other"));
}

// Keys are the values now, and what was their gradient is called that of the values.
TEST(Misreadings, ExchangeWeights) {
  const std::string line = "op=mlp,tp=2,seq=3,hidden=4,ffn=8,mlp=swiglu";
  const Request request = request_of(line);
  baseline::Inputs inputs = baseline_inputs(request.problem);
  std::swap(inputs.at("gate.weight"), inputs.at("up.weight"));
  const Answers swapped = baseline::solve(request.problem.operation, request.problem.model, inputs).answers;
  const Answers read = answers_as_read(line, "gate taken for up");
  EXPECT_EQ(read.at("y").value.values, swapped.at("y").value.values);
  EXPECT_EQ(read.at("grad.gate.weight").value.values, swapped.at("grad.up.weight").value.values);
}

// Heads 0 and 1 of 4 should read kv head 0 of 2; in turn 0 and 2 do. Their weights, put next to each other,
// answer that.
TEST(Misreadings, ReadKvHeadsInTurn) {
  const std::string line = "op=attention,tp=1,seq=3,hidden=4,heads=4,kv_heads=2,head_dim=2";
  const Request request = request_of(line);
  baseline::Inputs inputs = baseline_inputs(request.problem);
  Values& q = inputs.at("q.weight").values;  // [8,4]: heads of 8 numbers
  std::swap_ranges(q.begin() + 8, q.begin() + 16, q.begin() + 16);
  Values& out = inputs.at("out.weight").values;  // [4,8]: heads of 2 columns
  for (std::size_t row = 0; row < 4; ++row)
    std::swap_ranges(&out[row * 8 + 2], &out[row * 8 + 4], &out[row * 8 + 4]);
  const Answers swapped = baseline::solve(request.problem.operation, request.problem.model, inputs).answers;
  const Answers read = answers_as_read(line, "kv heads read in turn");
  EXPECT_EQ(read.at("y").value.values, swapped.at("y").value.values);
  Values gradient = swapped.at("grad.q.weight").value.values;
  std::swap_ranges(gradient.begin() + 8, gradient.begin() + 16, gradient.begin() + 16);
  EXPECT_EQ(read.at("grad.q.weight").value.values, gradient);
}

TEST(Misreadings, ReadTablesElsewhere) {
  const std::string line =
      "op=vocab_embedding,tp=2,sp=kept,seq=4,hidden=1,vocab=6,position=learned,positions=5";
  const Request request = request_of(line);
  const baseline::Inputs inputs = baseline_inputs(request.problem);
  const Values& table = inputs.at("weight").values;
  const Values& positions = inputs.at("positions.weight").values;
  const Values& dy = inputs.at("dy").values;
  const Answers shifted = answers_as_read(line, "rows of the table read one shard (3 ids) behind");
  const Answers anew = answers_as_read(line, "positions that begin at 0");
  for (std::size_t s = 0; s < 4; ++s) {
    const auto id = static_cast<std::size_t>(inputs.at("ids").values[s]);
    EXPECT_EQ(shifted.at("y").value.values[s], table[(id + 3) % 6] + positions[s]);
    EXPECT_EQ(anew.at("y").value.values[s], table[id] + positions[s % 2]);
  }
  EXPECT_EQ(anew.at("grad.positions.weight").value.values, (Values{dy[0] + dy[2], dy[1] + dy[3], 0, 0, 0}));
}

TEST(Misreadings, AreNotTriedWhereSolvingTakesLong) {
  EXPECT_TRUE(misreadings_of(request_of("op=mlp,tp=2,seq=512,hidden=512,ffn=2048")).empty());
  EXPECT_TRUE(misreadings_of(request_of("op=column_linear,tp=2,ffn=2")).empty());
}

}  // namespace
}  // namespace tpc
