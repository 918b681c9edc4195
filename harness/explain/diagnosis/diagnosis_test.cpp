// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/explain/diagnosis/facts.hpp"
#include "harness/explain/diagnosis/layers.hpp"
#include "harness/explain/diagnosis/order.hpp"
#include "harness/judge/compare/fixture.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

TEST(ExecutionOrder, GoesForwardThenBackward) {
  std::vector<std::string> tensors = {"step2.head.weight",
                                      "step1.embedding.weight",
                                      "grad.embedding.weight",
                                      "grad.blocks.0.norm1.gain",
                                      "grad.blocks.1.mlp.fc1.weight",
                                      "grad.blocks.1.mlp.fc2.weight",
                                      "grad.final_norm.gain",
                                      "dx",
                                      "loss",
                                      "token_loss",
                                      "y",
                                      "mask.embedding"};
  const std::vector<std::string> ordered = in_order_of_execution(tensors);
  EXPECT_EQ(ordered,
            (std::vector<std::string>{
                "mask.embedding", "y", "token_loss", "loss", "dx", "grad.final_norm.gain",
                "grad.blocks.1.mlp.fc2.weight", "grad.blocks.1.mlp.fc1.weight", "grad.blocks.0.norm1.gain",
                "grad.embedding.weight", "step1.embedding.weight", "step2.head.weight"}));
}

TEST(Facts, AreTheBoxTheCountAndTheWorstElement) {
  TensorEvidence tensor{"y", {4, 2, 3}, std::vector<double>(24, 2.0), {}, 1e-12, 0x1p-53, 2};
  for (int r = 0; r < 2; ++r)
    tensor.pieces.push_back({r, {{2 * r, 0, 0}, {2, 2, 3}}, std::vector<double>(12, 2.0)});
  EXPECT_EQ(facts_of(tensor).wrong, 0);
  tensor.pieces[1].values[1] = 2.5;  // [2, 0, 1]
  tensor.pieces[1].values[8] = -1;   // [3, 0, 2]
  const Facts facts = facts_of(tensor);
  EXPECT_EQ(facts.wrong, 2);
  EXPECT_EQ(facts.box, (Box{{2, 0, 1}, {2, 1, 2}}));
  EXPECT_EQ(facts.ranks, (std::vector<int>{1}));
  EXPECT_EQ(
      to_text(facts, tensor, {{2}, {"tp"}}),
      "y [4, 2, 3]: 2 of 24 elements are wrong, on rank 1 (tp 1 of 2), within [2..3, 0, 1..2]; the largest "
      "error, at [3, 0, 2] on rank 1 (tp 1 of 2), is 1.4e+16 eps: -1 instead of 2");
  tensor.pieces[0].values[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(facts_of(tensor).ranks.size(), 2U);
  EXPECT_EQ(facts_of(tensor).worst_rank, 0);
}

TEST(Distances, CompareWhatBothHoldOnTheSameRank) {
  const Answers answers = y_answers();
  std::vector<LocalTensor> mine = {answers.rows("y", 0, 4)};
  std::vector<LocalTensor> others = {answers.whole("y")};
  EXPECT_TRUE(apart(mine, others).at("y").error.equal);
  EXPECT_EQ(apart(mine, others).at("y").compared, 12);
  others[0].data.data<double>()[5] += 3;
  EXPECT_EQ(apart(mine, others).at("y").error.squares, 9);
  others = {answers.rows("y", 4, 4)};
  EXPECT_EQ(apart(mine, others).at("y").compared, 0);
  EXPECT_EQ(apart(mine, answers.all()).at("y").error.squares, 0);
  mine[0].data.data<double>()[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(apart(mine, mine).at("y").error.equal);
  EXPECT_FALSE(apart(mine, answers.all()).at("y").error.equal);
}

// Rank 0 alone answers, and whole; each of the two ranks holds half.
TEST(Distances, TakeFromOthersWhatTheSameRankLacks) {
  const Answers answers = y_answers();
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    const std::vector<LocalTensor> mine = {answers.rows("y", 4 * ranks->rank(), 4)};
    std::vector<LocalTensor> others;
    if (ranks->rank() == 0) others = {answers.whole("y")};
    EXPECT_TRUE(apart_from_answer(mine, others, answers.all(), *ranks).at("y").error.equal);
    if (ranks->rank() == 0) others[0].data.data<double>()[20] += 3;
    const Apart found = apart_from_answer(mine, others, answers.all(), *ranks).at("y");
    EXPECT_EQ(found.error.squares, 9);
    EXPECT_EQ(found.compared, 24);
  });
}

std::vector<std::string> seen_on_two_ranks(const std::function<void(LocalTensor&, int rank)>& plant) {
  const Answers answers = y_answers();
  std::vector<std::string> lines;
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    std::vector<LocalTensor> got = {answers.rows("y", 4 * ranks->rank(), 4)};
    plant(got[0], ranks->rank());
    const auto mine = look_at(case_on(2), got, RightAnswer(answers.all()), *ranks).lines;
    if (ranks->rank() == 0) lines = mine;
  });
  return lines;
}

TEST(LookingAtATensor, TellsWhereAndHow) {
  EXPECT_EQ(seen_on_two_ranks([](LocalTensor&, int) {}),
            (std::vector<std::string>{"every tensor is right by itself"}));
  const auto doubled = seen_on_two_ranks([](LocalTensor& y, int) {
    for (int i = 0; i < 12; ++i) y.data.data<double>()[i] *= 2;
  });
  ASSERT_EQ(doubled.size(), 2U);
  EXPECT_TRUE(doubled[0].starts_with("first wrong: y [8, 3]: 24 of 24 elements are wrong, on all ranks;"))
      << doubled[0];
  EXPECT_EQ(doubled[1], "y: every element is T = 2 times what it should be");
}

TEST(Layers, OfAModelKeepItsGeometry) {
  const Case model = case_of(
      configuration_of(
          "op=model,tp=2,sp=kept,layers=2,seq=4,hidden=6,heads=4,kv_heads=2,head_dim=4,ffn=8,vocab=11,"
          "padded_vocab=12,norm=rms_norm,mlp=swiglu,position=rotary,smoothing=0.1,ignored=0.25"),
      "one");
  std::vector<std::string> lines;
  for (const Case& layer : cases_of_layers(model)) lines.push_back(to_text(*configuration_of(layer)));
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                "op=vocab_embedding,tp=2,sp=kept,seq=4,hidden=6,vocab=11,padded_vocab=12,position=rotary",
                "op=rms_norm,tp=2,sp=kept,seq=4,hidden=6",
                "op=attention,tp=2,sp=kept,seq=4,hidden=6,heads=4,kv_heads=2,head_dim=4,position=rotary",
                "op=mlp,tp=2,sp=kept,seq=4,hidden=6,ffn=8,mlp=swiglu",
                ("op=transformer_layer,tp=2,sp=kept,seq=4,hidden=6,heads=4,kv_heads=2,head_dim=4,ffn=8,"
                 "norm=rms_norm,mlp=swiglu,position=rotary"),
                "op=vocab_cross_entropy,tp=2,seq=4,vocab=11,padded_vocab=12,smoothing=0.1,ignored=0.25"}));
  EXPECT_TRUE(cases_of_layers(case_of(configuration_of("op=mlp"), "one")).empty());
}

}  // namespace
}  // namespace tpc
