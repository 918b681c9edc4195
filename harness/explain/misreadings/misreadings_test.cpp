// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/misreadings/misreadings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/explain/misreadings/misread_losses.hpp"
#include "harness/explain/vectors.hpp"
#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"

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
  return baseline::solve(request.problem.operation(), request.problem.model, baseline_inputs(request.problem))
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
  const Answers swapped = baseline::solve(request.problem.operation(), request.problem.model, inputs).answers;
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
  const Answers swapped = baseline::solve(request.problem.operation(), request.problem.model, inputs).answers;
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

// Two tokens of which each sees the next one see all there are.
TEST(Misreadings, ShowTheNextToken) {
  const std::string attention =
      "op=attention,tp=1,hidden=4,heads=2,kv_heads=1,head_dim=2,qkv_bias=1,out_bias=1,position=rotary,seq=";
  const char* const next = "each token sees the one after it";
  expect_near(answers_as_read(attention + "2,causal=1", next), answers_of(attention + "2,causal=0"));
  const Values right = answers_of(attention + "4,causal=1").at("y").value.values;
  const Values all = answers_of(attention + "4,causal=0").at("y").value.values;
  const Values read = answers_as_read(attention + "4,causal=1", next).at("y").value.values;
  EXPECT_GT(distance(read, right), 1e-3);
  EXPECT_GT(distance(read, all), 1e-3);
  EXPECT_LT(distance({read.end() - 8, read.end()}, {all.end() - 8, all.end()}),
            1e-14);  // the last two see all
}

TEST(Misreadings, NormaliseByOtherFormulas) {
  const std::string norm = "tp=2,seq=3,hidden=5,eps=";
  // Without eps it does not matter where it stands.
  expect_near(answers_as_read("op=layer_norm," + norm + "0", "eps added to the root"),
              answers_of("op=layer_norm," + norm + "0"));
  const Request request = request_of("op=rms_norm," + norm + "0.5");
  const baseline::Inputs inputs = baseline_inputs(request.problem);
  const Values& x = inputs.at("x").values;
  const Values outside =
      answers_as_read("op=rms_norm," + norm + "0.5", "eps added to the root").at("y").value.values;
  double squares = 0;
  for (std::size_t i = 0; i < 5; ++i) squares += x[i] * x[i] / 5;
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(outside[i], inputs.at("gain").values[i] * x[i] / (std::sqrt(squares) + 0.5), 1e-14);
  // sqrt(v·n/(n-1) + eps) is sqrt(n/(n-1)) times what eps·(n-1)/n would give.
  const Answers divided = answers_as_read("op=rms_norm," + norm + "0.5", "divided by H - 1");
  for (const auto& [name, answer] : answers_of("op=rms_norm," + norm + "0.4"))
    for (std::size_t i = 0; i < answer.value.values.size(); ++i)
      EXPECT_NEAR(divided.at(name).value.values[i], std::sqrt(0.8) * answer.value.values[i], 1e-13) << name;
}

TEST(Misreadings, TakeOneNormForTheOther) {
  const std::string norm = "tp=2,seq=3,hidden=5,eps=0.25";
  const Answers read = answers_as_read("op=rms_norm," + norm, "a layer norm where an RMS norm is asked");
  const Request request = request_of("op=rms_norm," + norm);
  baseline::Inputs inputs = baseline_inputs(request.problem);
  inputs["bias"] = {{5}, Values(5, 0.0)};
  Answers due = baseline::solve(Operation::layer_norm, request.problem.model, inputs).answers;
  due.erase("grad.bias");
  expect_near(read, due);
}

TEST(Misreadings, SubtractMaximaOfShards) {
  const Request request =
      request_of("op=vocab_cross_entropy,tp=2,seq=9,vocab=6,ignored=0.4,smoothing=0.1,mean_over=all");
  const Answers right =
      baseline::solve(Operation::vocab_cross_entropy, request.problem.model, baseline_inputs(request.problem))
          .answers;
  expect_near(loss_of_own_maxima(request.problem, 6), right);  // one shard
  const Answers of_six_shards = loss_of_own_maxima(request.problem, 1);
  for (const double loss : of_six_shards.at("token_loss").value.values)
    EXPECT_TRUE(loss == 0 || std::fabs(loss - std::log(6)) < 1e-14) << loss;
  const Answers read =
      solve_as_read(request, reading(misreadings_of(request), "the maximum of its own logits"));
  EXPECT_GT(distance(read.at("loss").value.values, right.at("loss").value.values), 1e-3);
  EXPECT_GT(distance(read.at("dlogits").value.values, right.at("dlogits").value.values), 1e-3);
}

TEST(Misreadings, TakeBlocksOfMemoryForColumns) {
  const std::string line = "op=row_linear,tp=2,seq=1,hidden=2,ffn=4";
  const baseline::Inputs inputs = baseline_inputs(request_of(line).problem);
  const Values& x = inputs.at("x").values;
  const Values& w =
      inputs.at("weight").values;  // two rows of four; each rank should have two columns of both
  const auto y = [&](const std::array<std::size_t, 4>& entries) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += x[i] * w[entries[i]];
    return sum;
  };
  const Values blocks = answers_as_read(line, "a block of its memory").at("y").value.values;
  EXPECT_NEAR(blocks[0], y({0, 1, 4, 5}), 1e-14);
  EXPECT_NEAR(blocks[1], y({2, 3, 6, 7}), 1e-14);
  const Values in_turn = answers_as_read(line, "dealt to the ranks in turn").at("y").value.values;
  EXPECT_NEAR(in_turn[0], y({0, 2, 1, 3}), 1e-14);
  EXPECT_NEAR(in_turn[1], y({4, 6, 5, 7}), 1e-14);
}

TEST(Misreadings, LoseOneOfTwoGradientsOfATiedTable) {
  const std::string line =
      "op=model,tp=2,seq=3,hidden=4,heads=2,kv_heads=2,head_dim=2,ffn=8,vocab=6,layers=1,tied=1,position="
      "learned,positions=4";
  Values sum = answers_as_read(line, "does not reach the table").at("grad.embedding.weight").value.values;
  const Values head =
      answers_as_read(line, "the head's gradient alone").at("grad.embedding.weight").value.values;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += head[i];
  const Answers due = answers_of(line);
  EXPECT_LT(distance(sum, due.at("grad.embedding.weight").value.values), 1e-14);
  EXPECT_EQ(answers_as_read(line, "does not reach the table").size(), due.size());
  EXPECT_GT(norm(head), 1e-3);
}

// Where all wavelengths are long, all frequencies are divided by the factor.
TEST(Misreadings, ScaleRotaryFrequenciesAlike) {
  Request request =
      request_of("op=attention,tp=1,seq=4,hidden=4,heads=1,kv_heads=1,head_dim=4,position=rotary");
  request.problem.model.rotary_scaling = RotaryScaling{.factor = 4, .original_positions = 1};
  const auto right = [&] {
    return baseline::solve(Operation::attention, request.problem.model, baseline_inputs(request.problem))
        .answers;
  };
  const auto read = [&] {
    return solve_as_read(request, reading(misreadings_of(request), "all divided by the factor"));
  };
  expect_near(read(), right());
  request.problem.model.rotary_scaling->original_positions = 8192;
  EXPECT_GT(distance(read().at("y").value.values, right().at("y").value.values), 1e-3);
}

TEST(Misreadings, ForgetABias) {
  const std::string line = "op=row_linear,tp=2,seq=3,hidden=4,ffn=8,mlp_bias=";
  const Answers read = answers_as_read(line + "1", "bias that is never added");
  EXPECT_EQ(norm(read.at("grad.bias").value.values), 0);
  const Request request = request_of(line + "1");
  baseline::Inputs inputs = baseline_inputs(request.problem);
  std::fill(inputs.at("bias").values.begin(), inputs.at("bias").values.end(), 0.0);
  EXPECT_EQ(
      read.at("y").value.values,
      baseline::solve(Operation::row_linear, request.problem.model, inputs).answers.at("y").value.values);
}

TEST(Misreadings, TakeOtherSteps) {
  Request request =
      request_of("op=model,tp=2,seq=2,hidden=4,heads=2,kv_heads=2,head_dim=2,ffn=8,vocab=6,layers=1");
  request.problem.asked = Operation::train;
  request.problem.train.optimizer = TrainProblem::Optimizer::adamw;
  request.problem.train.weight_decay = 0.5;
  request.problem.train.max_norm = 0.01;
  request.problem.train.reports = {2};
  request.problem.inputs = inputs_for(request.problem, InputRecipe::gaussian, {});
  const auto answer = [&](const std::string& title) {
    return title.empty() ? solve_training(request.problem, training_of(request.problem.train)).answers
                         : solve_as_read(request, reading(misreadings_of(request), title));
  };
  const Answers right = answer("");
  for (const auto& [title, change] :
       std::vector<std::pair<std::string, std::function<void(baseline::Training&)>>>{
           {"not clipped", [](baseline::Training& t) { t.max_norm = 0; }},
           {"clipped by their largest element", [](baseline::Training& t) { t.norm = HUGE_VAL; }},
           {"Adam where AdamW is asked",
            [](baseline::Training& t) { t.rule = baseline::Training::Rule::adam; }},
           {"of matrices alone", [](baseline::Training& t) { t.decays_from_dims = 2; }},
           {"no weight decay", [](baseline::Training& t) { t.weight_decay = 0; }}}) {
    baseline::Training training = training_of(request.problem.train);
    change(training);
    const Answers read = answer(title);
    expect_near(read, solve_training(request.problem, training).answers);
    EXPECT_GT(distance(read.at("step2.embedding.weight").value.values,
                       right.at("step2.embedding.weight").value.values) +
                  distance(read.at("step2.final_norm.bias").value.values,
                           right.at("step2.final_norm.bias").value.values),
              1e-6)
        << title;
  }
}

TEST(Misreadings, AreNotTriedWhereSolvingTakesLong) {
  EXPECT_TRUE(misreadings_of(request_of("op=mlp,tp=2,seq=512,hidden=512,ffn=2048")).empty());
  EXPECT_TRUE(misreadings_of(request_of("op=column_linear,tp=2,ffn=2")).empty());
}

}  // namespace
}  // namespace tpc
