// SPDX-License-Identifier: Apache-2.0
#include "suites/memory/formulas.hpp"

#include <gtest/gtest.h>

#include "harness/account.hpp"
#include "harness/dry_run.hpp"
#include "harness/problem_inputs.hpp"

namespace tpc {
namespace {

struct PublishedBlock {
  const char* name;
  std::int64_t heads, hidden, batch;
};

Request block_request(const PublishedBlock& block, int tp, SequenceParallel mode) {
  Request request;
  Problem& problem = request.problem;
  problem.operation = Operation::transformer_layer;
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
        const double closed = gpt_block_bytes({2048, block.batch, block.hidden, block.heads, tp}, mode);
        EXPECT_EQ(static_cast<double>(activation_bytes(dry)), closed) << block.name << " tp " << tp;
        EXPECT_EQ(total(kept_activations(request)), activation_bytes(dry));
        EXPECT_EQ(statistics_bytes(dry), 16 * 2048 * block.batch / (mode == SequenceParallel::off ? 1 : tp));
        EXPECT_EQ(dry.live_bytes, dry.saved_bytes);
      }
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
