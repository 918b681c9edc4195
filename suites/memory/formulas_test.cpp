// SPDX-License-Identifier: Apache-2.0
#include "suites/memory/formulas.hpp"

#include <gtest/gtest.h>

#include "harness/explain/dry_run.hpp"
#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/values/account.hpp"

namespace tpc {
namespace {

struct PublishedBlock {
  const char* name;
  std::int64_t heads, hidden, batch;
};

Request block_request(const PublishedBlock& block, int tp, SequenceParallel mode) {
  Request request;
  Problem& problem = request.problem;
  problem.asked = Operation::transformer_layer;
  ModelConfig& c = problem.model;
  c.heads = c.kv_heads = block.heads;
  c.hidden = block.hidden;
  c.head_dim = block.hidden / block.heads;
  c.ffn = 4 * block.hidden;
  problem.batch = block.batch;
  problem.sequence = 2048;
  problem.dtype = DType::bf16;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian);
  request.mesh = {{tp}, {"tp"}};
  request.sharding.sequence_parallel = mode;
  return request;
}

// Sizes of Korthikanti et al. (arXiv 2205.05198), table 3: 22B, 175B, 530B, 1T.
constexpr PublishedBlock published[] = {
    {"22B", 64, 6144, 4}, {"175B", 96, 12288, 1}, {"530B", 128, 20480, 1}, {"1T", 160, 25600, 1}};

TEST(BlockMemory, OfPublishedSizesComesOutOfTheLayersOwnAccount) {
  for (const PublishedBlock& block : published)
    for (const int tp : {1, 2, 4, 8, 16})
      for (const auto mode : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered}) {
        const Request request = block_request(block, tp, mode);
        const Response dry = dry_run(request, tp - 1);
        const double closed = gpt_block_bytes({2048, block.batch, block.hidden, block.heads, tp},
                                              {mode, false, Recompute::none});
        EXPECT_EQ(static_cast<double>(activation_bytes(dry)), closed) << block.name << " tp " << tp;
        EXPECT_EQ(total(kept_activations(request)), activation_bytes(dry));
        EXPECT_EQ(statistics_bytes(dry), 16 * 2048 * block.batch / (mode == SequenceParallel::off ? 1 : tp));
        EXPECT_EQ(dry.live_bytes, dry.saved_bytes);
      }
}

// The table of the paper in MiB a rank at t = 8, in all its schemes, and the gathered input kept.
struct PublishedRow {
  double none, off, regathered, off_selective, regathered_selective, full, kept;
};
constexpr PublishedRow table_2[] = {{6752, 1264, 844, 624, 204, 96, 1012},
                                    {2736, 552, 342, 312, 102, 48, 426},
                                    {3920, 840, 490, 520, 170, 80, 630},
                                    {4900, 1050, 612.5, 650, 212.5, 100, 787.5}};

TEST(BlockMemory, WithDropoutIsThePublishedOneToTheByte) {
  using SP = SequenceParallel;
  for (std::size_t i = 0; i < std::size(published); ++i) {
    const PublishedBlock& block = published[i];
    const auto expect = [&](double mebibytes, int tp, SP mode, Recompute recompute) {
      SCOPED_TRACE(block.name);
      Request request = block_request(block, tp, mode);
      request.problem.model.dropout = {0.1, 0.1, 0.1};
      request.sharding.recompute = recompute;
      const Response dry = dry_run(request, tp - 1);
      EXPECT_EQ(static_cast<double>(activation_bytes(dry)), mebibytes * 0x1p20);
      EXPECT_EQ(gpt_block_bytes({2048, block.batch, block.hidden, block.heads, tp}, {mode, true, recompute}),
                mebibytes * 0x1p20);
      EXPECT_EQ(total(kept_activations(request)), activation_bytes(dry));
      EXPECT_EQ(kept_statistics(request), statistics_bytes(dry));
      EXPECT_EQ(dry.live_bytes, dry.saved_bytes);
    };
    const PublishedRow& row = table_2[i];
    expect(row.none, 1, SP::off, Recompute::none);
    expect(row.off, 8, SP::off, Recompute::none);
    expect(row.regathered, 8, SP::regathered, Recompute::none);
    expect(row.kept, 8, SP::kept, Recompute::none);
    expect(row.off_selective, 8, SP::off, Recompute::selective);
    expect(row.regathered_selective, 8, SP::regathered, Recompute::selective);
    expect(row.full, 8, SP::off, Recompute::full);
  }
}

TEST(BlockMemory, MasksAreAByteAnElement) {
  Request request = block_request(published[0], 8, SequenceParallel::kept);
  const std::int64_t without = activation_bytes(dry_run(request, 0));
  request.problem.model.dropout = {0, 0, 0.1};
  const std::int64_t hidden_alone = activation_bytes(dry_run(request, 0));
  EXPECT_EQ(hidden_alone - without, 2 * 2048 * 4 * 6144 / 8);
  EXPECT_EQ(hidden_alone, total(kept_activations(request)));
  request.problem.random.training = false;
  EXPECT_EQ(activation_bytes(dry_run(request, 0)), without);
  EXPECT_EQ(total(kept_activations(request)), without);
}

TEST(BlockMemory, IsExactlyOneTthOnlyWhereTheInputIsGatheredAgain) {
  const PublishedBlock& block = published[1];
  const std::int64_t none = activation_bytes(dry_run(block_request(block, 1, SequenceParallel::off), 0));
  EXPECT_EQ(activation_bytes(dry_run(block_request(block, 8, SequenceParallel::regathered), 0)) * 8, none);
  EXPECT_GT(activation_bytes(dry_run(block_request(block, 8, SequenceParallel::kept), 0)) * 8, none);
  EXPECT_GT(activation_bytes(dry_run(block_request(block, 8, SequenceParallel::off), 0)) * 8, none);
}

}  // namespace
}  // namespace tpc
