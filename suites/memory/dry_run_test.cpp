// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/dry_run.hpp"

#include <gtest/gtest.h>

#include <map>

#include "harness/judge/inputs/problem_inputs.hpp"
#include "harness/run/implementations.hpp"
#include "harness/values/account.hpp"
#include "harness/values/machine/data_path.hpp"
#include "reference/comm/local/local.hpp"
#include "suites/layer_cases.hpp"
#include "suites/memory/formulas.hpp"
#include "suites/volume/profiles.hpp"

namespace tpc {
namespace {

std::vector<Case> all_f64_cases() {
  SuiteOptions options;
  options.tiers = {Tier::f64};
  options.tiers_given = true;
  const std::vector<SequenceParallel> modes = {SequenceParallel::off, SequenceParallel::kept,
                                               SequenceParallel::regathered};
  std::vector<Case> cases;
  for (const auto& variants : {plain_variants(), further_variants(), overlap_variants(), loss_variants()})
    for (Case& c : layer_cases("test", variants, modes, options)) cases.push_back(std::move(c));
  return cases;
}

std::vector<Response> executed(const Request& request) {
  std::vector<Response> responses(static_cast<std::size_t>(request.mesh.ranks()));
  on_local_ranks(request.mesh.ranks(), [&](const CommunicatorPtr& ranks) {
    responses[static_cast<std::size_t>(ranks->rank())] = make_reference_implementation()->run(request, ranks);
  });
  return responses;
}

Request document_request(int tp, SequenceParallel mode) {
  Request request;
  Problem& problem = request.problem;
  problem.asked = Operation::model;
  problem.model = read_model_config(data_path("models/document.json")).config;
  problem.batch = 8;
  problem.sequence = 2048;
  problem.dtype = DType::bf16;
  problem.inputs = inputs_for(problem, InputRecipe::gaussian);
  request.mesh = {{tp}, {"tp"}};
  request.sharding.sequence_parallel = mode;
  return request;
}

TEST(DryRun, SendsAndKeepsWhatTheExecutedRunDoes) {
  for (const Case& c : all_f64_cases()) {
    SCOPED_TRACE(c.name);
    const std::vector<Response> real = executed(c.request);
    for (int rank = 0; rank < c.request.mesh.ranks(); ++rank) {
      const Response& ran = real[static_cast<std::size_t>(rank)];
      ASSERT_EQ(ran.status, Response::Status::result) << ran.reason;
      const Response dry = dry_run(c.request, rank);
      EXPECT_EQ(dry.trace, ran.trace);
      EXPECT_EQ(dry.saved_bytes, ran.saved_bytes);
      EXPECT_EQ(dry.live_bytes, ran.live_bytes);
    }
  }
}

TEST(Profiles, AreWhatEveryRankSends) {
  for (const Case& c : all_f64_cases())
    for (int rank = 0; rank < c.request.mesh.ranks(); ++rank) {
      Account account{profile_name(c.request.sharding), volume_profile(c.request), {}, {}};
      if (c.request.problem.asks(Operation::transformer_layer)) {
        account.activation_bytes = total(kept_activations(c.request));
        account.statistics_bytes = kept_statistics(c.request);
      }
      EXPECT_EQ(account_defect(account, dry_run(c.request, rank)), "") << c.name << " rank " << rank;
    }
}

// The variants' sizes, made to split over sixteen ranks.
std::vector<Variant> variants_for_sixteen() {
  std::vector<Variant> all;
  for (const auto& variants : {plain_variants(), further_variants(), loss_variants()})
    for (Variant v : variants) {
      if (v.config.kv_heads == v.config.heads) v.config.kv_heads = 48;
      v.config.heads = 48;
      v.config.positions = v.config.positions == 0 ? 0 : 64;
      v.sequence = 48;
      v.config.vocab = v.sharding.padded_vocab == 0 ? 112 : 100;
      v.sharding.padded_vocab = v.sharding.padded_vocab == 0 ? 0 : 112;
      all.push_back(std::move(v));
    }
  return all;
}

TEST(Profiles, HoldOnSixteenRanks) {
  std::map<Operation, int> judged;
  for (const Variant& v : variants_for_sixteen())
    for (const SequenceParallel mode : v.modes) {
      Request request;
      request.problem = problem_of(v, Tier::f64, DType::f64, 1);
      request.sharding = v.sharding;
      request.sharding.sequence_parallel = mode;
      request.mesh = {{16}, {"tp"}};
      const Account account{profile_name(request.sharding), volume_profile(request), {}, {}};
      try {
        for (const int rank : {0, 7, 15})
          EXPECT_EQ(account_defect(account, dry_run(request, rank)), "") << v.tag << " " << v.suffix;
        ++judged[v.operation];
      } catch (const Refusal&) {  // 3 or 6 kv heads, and hidden sizes that 16 does not divide
      }
    }
  for (const auto operation : {Operation::vocab_embedding, Operation::vocab_cross_entropy,
                               Operation::attention, Operation::transformer_layer, Operation::model})
    EXPECT_GE(judged[operation], 4) << name(operation);
}

// The example that everybody quotes: batch 8, sequence 2048, hidden 8192, bf16, 80 blocks.
struct DocumentBlocks {
  Volume call;
  Volume block;
  Volume step;
};

DocumentBlocks document_blocks(int tp, SequenceParallel mode) {
  const Response dry = dry_run(document_request(tp, mode), 0);
  DocumentBlocks sums{{}, volume_of(dry.trace, "blocks.0."), volume_of(dry.trace, "blocks.")};
  for (const TraceRow& row : dry.trace)
    if (row.layer.starts_with("blocks.0.")) sums.call = {1, row.payload, row.ring_wire};
  return sums;
}

TEST(DocumentExample, MovesWhatTheFormulaSaysWhateverTheDegree) {
  for (const int tp : {2, 4, 8, 16}) {
    const DocumentBlocks off = document_blocks(tp, SequenceParallel::off);
    EXPECT_EQ(off.call.payload, 268'435'456) << tp;
    EXPECT_EQ(off.block.calls, 4);
    EXPECT_EQ(off.block.payload, 1'073'741'824);
    EXPECT_EQ(off.step.payload, 85'899'345'920);
    EXPECT_EQ(off.step.ring_wire, 2.0 * (tp - 1) / tp * 85'899'345'920);
    EXPECT_NEAR(static_cast<double>(off.step.payload) / 900e9, 0.095, 5e-4);
    EXPECT_NEAR(static_cast<double>(off.step.payload) / 64e9, 1.34, 5e-3);
    EXPECT_NEAR(static_cast<double>(off.step.payload) / 25e9, 3.44, 5e-3);
  }
}

TEST(DocumentExample, SequenceParallelIsAsMuchOnTheWire) {
  for (const int tp : {2, 4, 8, 16}) {
    const DocumentBlocks off = document_blocks(tp, SequenceParallel::off);
    const DocumentBlocks kept = document_blocks(tp, SequenceParallel::kept);
    const DocumentBlocks again = document_blocks(tp, SequenceParallel::regathered);
    EXPECT_EQ(kept.block.calls, 8) << tp;
    EXPECT_EQ(kept.call.payload, 268'435'456);
    EXPECT_EQ(kept.block.ring_wire, off.block.ring_wire);
    EXPECT_EQ(again.block.calls, 10);
    EXPECT_EQ(again.block.ring_wire, 1.25 * off.block.ring_wire);
  }
}

}  // namespace
}  // namespace tpc
