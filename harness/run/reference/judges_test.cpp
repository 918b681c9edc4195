// SPDX-License-Identifier: Apache-2.0
// The judges on answers of the reference, as they are and tampered with.
#include "harness/judge/judges/judges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "harness/judge/inputs/init_rule.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/run/implementations.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

using Tamper = std::function<void(int rank, std::vector<LocalTensor>& got)>;
using Judge = std::function<Comparison(const Case&, const std::vector<LocalTensor>&, Communicator&)>;

// The verdict that all ranks reached.
Comparison verdict(const Case& c, const Judge& judge, const Tamper& tamper = {}) {
  Comparison first;
  std::mutex mutex;
  on_local_ranks(c.request.mesh.ranks(), [&](const CommunicatorPtr& ranks) {
    Response response = make_reference_implementation()->run(c.request, ranks);
    ASSERT_EQ(response.status, Response::Status::result) << response.reason;
    if (tamper) tamper(ranks->rank(), response.tensors);
    const Comparison mine = judge(c, response.tensors, *ranks);
    const std::lock_guard lock(mutex);
    if (ranks->rank() == 0) first = mine;
    EXPECT_EQ(mine.verdict, tamper ? Verdict::fail : Verdict::pass) << mine.message;
  });
  return first;
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

LocalTensor& tensor_named(std::vector<LocalTensor>& got, const std::string& name) {
  const auto found =
      std::find_if(got.begin(), got.end(), [&](const LocalTensor& local) { return local.name == name; });
  if (found == got.end()) throw std::out_of_range(name);
  return *found;
}

Case dropout_case(const std::string& profile, SequenceParallel mode = SequenceParallel::off) {
  Case c;
  c.tier = Tier::statistics;
  Problem& problem = c.request.problem;
  problem.asked = Operation::dropout;
  problem.model.layers = 1;
  problem.model.hidden = 64;
  problem.model.heads = problem.model.kv_heads = 2;
  problem.model.head_dim = 2;
  problem.model.dropout = {0.1, 0.1, 0.1};
  problem.sequence = 32;
  problem.batch = 4;
  problem.random.profile = profile;
  problem.seed = 11;
  c.request.sharding.sequence_parallel = mode;
  c.request.mesh = {{2}, {"tp"}};
  return c;
}

TEST(JudgeDropout, PassesEveryProfile) {
  for (const char* profile : {"invariant", "megatron", "dtensor"})
    for (const auto mode : {SequenceParallel::off, SequenceParallel::kept}) {
      const Comparison comparison = verdict(dropout_case(profile, mode), judge_dropout);
      EXPECT_GT(comparison.tests, 0);
      expect_words(comparison.note, {"false alarms expected", "dispersion"});
    }
}

constexpr const char* attention = "blocks.0.attention.mask.attention_probabilities";
constexpr const char* hidden = "blocks.0.mlp.mask.mlp_output";

// Flips elements of every action alike, so that only the relation to other ranks is wrong.
void flip_everywhere(std::vector<LocalTensor>& got, const std::string& site, std::int64_t count) {
  for (LocalTensor& local : got) {
    if (!local.name.ends_with("." + site)) continue;
    for (std::int64_t i = 0; i < count; ++i) {
      double& value = local.data.data<double>()[i];
      value = value == 0 ? 1 / (1 - 0.1) : 0;
    }
  }
}

TEST(JudgeDropout, NamesRanksWhoseCopiesDiffer) {
  const Comparison comparison = verdict(dropout_case("megatron"), judge_dropout, [](int rank, auto& got) {
    if (rank == 1) flip_everywhere(got, hidden, 3);
  });
  expect_words(comparison.message,
               {hidden, "rank 0 (tp 0 of 2)", "rank 1 (tp 1 of 2)", "agree at 8189 of 8192"});
}

TEST(JudgeDropout, SeesAnotherMaskInBackwardAndRecomputation) {
  for (const char* action : {"backward.", "recomputed.", "resumed."}) {
    const Comparison comparison = verdict(dropout_case("dtensor"), judge_dropout, [&](int rank, auto& got) {
      double& value = tensor_named(got, std::string(action) + attention).data.template data<double>()[5];
      if (rank == 1) value = value == 0 ? 1 / (1 - 0.1) : 0;
    });
    expect_words(comparison.message, {"rank 1", attention, "must be the same", "4095 of 4096"});
  }
}

TEST(JudgeDropout, SeesAnotherScale) {
  const Comparison comparison = verdict(dropout_case("dtensor"), judge_dropout, [](int, auto& got) {
    for (LocalTensor& local : got)
      if (is_mask(local.name))
        for (std::int64_t i = 0; i < local.data.count(); ++i) local.data.data<double>()[i] *= 0.9 / 0.1;
  });
  expect_words(comparison.message, {"rank 0", "scaled by 10", "1.1111"});
}

TEST(JudgeDropout, SeesWrongSeedsAndPositions) {
  Comparison comparison = verdict(dropout_case("megatron"), judge_dropout, [](int rank, auto& got) {
    if (rank == 1) tensor_named(got, "streams.seed").data.template data<std::int64_t>()[2] = 11 + 2718;
  });
  expect_words(comparison.message, {"rank 1", "model-parallel-rng", "2729", "2730"});
  comparison = verdict(dropout_case("megatron"), judge_dropout, [](int rank, auto& got) {
    if (rank == 1) tensor_named(got, "streams.position").data.template data<std::int64_t>()[0] += 4;
  });
  expect_words(comparison.message, {"rank 1", "stream 0", "after the step"});
}

TEST(JudgeDropout, HoldsTheInvariantProfileToItsRule) {
  const Comparison comparison = verdict(dropout_case("invariant"), judge_dropout,
                                        [](int, auto& got) { flip_everywhere(got, hidden, 1); });
  expect_words(comparison.message, {hidden, "the rule of profile invariant"});
}

TEST(JudgeDropout, WantsEverySiteAndNothingElse) {
  Comparison comparison = verdict(dropout_case("dtensor"), judge_dropout, [](int, auto& got) {
    std::erase_if(got, [](const LocalTensor& local) { return local.name.ends_with(hidden); });
  });
  expect_words(comparison.message, {hidden, "no rank returned any part"});
  comparison = verdict(dropout_case("dtensor"), judge_dropout, [](int rank, auto& got) {
    if (rank == 1) tensor_named(got, std::string("forward.") + hidden).name = "forward.elsewhere";
  });
  expect_words(comparison.message, {"rank 1", "forward.elsewhere", "nobody asked"});
}

Case block_case(const std::string& profile) {
  Case c;
  c.tier = Tier::f64;
  Problem& problem = c.request.problem;
  problem.asked = Operation::transformer_layer;
  problem.model.hidden = 8;
  problem.model.heads = problem.model.kv_heads = 2;
  problem.model.head_dim = 4;
  problem.model.ffn = 12;
  problem.model.dropout = {0, 0.25, 0.25};
  problem.sequence = 6;
  problem.batch = 2;
  problem.random.profile = profile;
  problem.seed = 5;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian);
  c.request.mesh = {{2}, {"tp"}};
  c.request.sharding.sequence_parallel = SequenceParallel::kept;
  return c;
}

Comparison judge_block(const Case& c, const std::vector<LocalTensor>& got, Communicator& ranks) {
  return judge_with_masks(c, got, {}, ranks);
}

TEST(JudgeWithMasks, TakesTheMasksThatWereDrawn) {
  for (const char* profile : {"megatron", "dtensor"}) {
    EXPECT_TRUE(is_solved_when_judged(block_case(profile).request.problem));
    verdict(block_case(profile), judge_block);
  }
  EXPECT_FALSE(is_solved_when_judged(block_case("invariant").request.problem));
}

// A mask that was handed out but not used.
TEST(JudgeWithMasks, SeesThatAnotherMaskWasUsed) {
  const Comparison comparison = verdict(block_case("megatron"), judge_block, [](int rank, auto& got) {
    std::uint8_t& one = tensor_named(got, "mlp.mask.mlp_output").data.template data<std::uint8_t>()[0];
    if (rank == 0) one ^= 1U;
  });
  expect_words(comparison.message, {"expected", "got"});
}

TEST(JudgeWithMasks, WantsAllMasks) {
  const Comparison comparison = verdict(block_case("dtensor"), judge_block, [](int rank, auto& got) {
    if (rank == 1) std::erase_if(got, [](const LocalTensor& l) { return l.name == "mlp.mask.mlp_output"; });
  });
  expect_words(comparison.message, {"mlp.mask.mlp_output", "no rank holds this element"});
}

Case init_case(const std::string& profile) {
  Case c;
  c.tier = Tier::statistics;
  Problem& problem = c.request.problem;
  problem.asked = Operation::init;
  problem.model.layers = 2;
  problem.model.hidden = 32;
  problem.model.heads = problem.model.kv_heads = 4;
  problem.model.head_dim = 8;
  problem.model.ffn = 64;
  problem.model.vocab = 40;
  problem.model.positions = 16;
  problem.seed = 3;
  problem.random.profile = profile;
  c.request.mesh = {{2}, {"tp"}};
  return c;
}

TEST(JudgeInit, PassesEveryProfile) {
  for (const char* profile : {"invariant", "megatron", "dtensor"})
    EXPECT_GT(verdict(init_case(profile), judge_init).tests, 50);
}

void scale_all(std::vector<LocalTensor>& got, const std::string& parameter, double by) {
  const Tensor& data = tensor_named(got, parameter).data;
  for (std::int64_t i = 0; i < data.count(); ++i) data.data<double>()[i] *= by;
}

TEST(JudgeInit, SeesTheSpreadOfAShard) {
  const Comparison comparison = verdict(init_case("megatron"), judge_init,
                                        [](int, auto& got) { scale_all(got, "blocks.0.mlp.fc2.weight", 2); });
  expect_words(comparison.message, {"blocks.0.mlp.fc2.weight", "ranks 0 to 1",
                                    " times the 0.01 of the whole tensor's definition"});
}

TEST(JudgeInit, SeesUnequalCopiesAndConstants) {
  Comparison comparison = verdict(init_case("dtensor"), judge_init, [](int rank, auto& got) {
    if (rank == 1) tensor_named(got, "positions.weight").data.template data<double>()[7] += 1e-9;
  });
  expect_words(comparison.message, {"positions.weight", "rank 0 (tp 0 of 2)", "rank 1 (tp 1 of 2)",
                                    "must begin alike", "511 of 512"});
  comparison = verdict(init_case("dtensor"), judge_init, [](int rank, auto& got) {
    if (rank == 1) tensor_named(got, "final_norm.gain").data.template data<double>()[7] = 0;
  });
  expect_words(comparison.message, {"rank 1", "final_norm.gain", "begins with 0", "where 1 is defined"});
}

// Shards of the second rank that repeat those of the first, taken from another run as rank 0.
TEST(JudgeInit, SeesTheSameShardTwice) {
  const Case c = init_case("megatron");
  std::vector<double> first;
  std::mutex mutex;
  verdict(c, judge_init);
  on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
    Response response = make_reference_implementation()->run(c.request, ranks);
    const Tensor& data = tensor_named(response.tensors, "blocks.1.mlp.fc1.weight").data;
    const std::lock_guard lock(mutex);
    if (ranks->rank() == 0) first.assign(data.data<double>(), data.data<double>() + data.count());
  });
  const Comparison comparison = verdict(c, judge_init, [&](int rank, auto& got) {
    if (rank == 1)
      std::copy(first.begin(), first.end(),
                tensor_named(got, "blocks.1.mlp.fc1.weight").data.template data<double>());
  });
  expect_words(comparison.message, {"blocks.1.mlp.fc1.weight", "rank 0", "rank 1", "must begin independently",
                                    "1024 of 1024 elements (1.0000)"});
}

TEST(JudgeInit, SeesTwoLayersThatBeginAlike) {
  const Comparison comparison = verdict(init_case("dtensor"), judge_init, [](int, auto& got) {
    for (const char* prefix : {"", "repeated."}) {
      const Tensor& from = tensor_named(got, std::string(prefix) + "blocks.0.mlp.fc1.weight").data;
      const Tensor& to = tensor_named(got, std::string(prefix) + "blocks.1.mlp.fc1.weight").data;
      std::copy_n(from.data<double>(), from.count(), to.data<double>());
    }
  });
  expect_words(comparison.message,
               {"rank 0", "blocks.0.mlp.fc1.weight", "blocks.1.mlp.fc1.weight", "1.0000"});
}

}  // namespace
}  // namespace tpc
