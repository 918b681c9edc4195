// SPDX-License-Identifier: Apache-2.0
#include "harness/run/fault_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/values/glob.hpp"

namespace tpc {
namespace {

Request request_of(Operation operation, int tp) {
  Request request;
  ModelConfig& c = request.problem.model;
  request.problem.asked = operation;
  request.problem.batch = 2;
  request.problem.sequence = 8;
  c.hidden = 16;
  c.heads = c.kv_heads = 4;
  c.head_dim = 4;
  c.ffn = 16;
  c.vocab = 16;
  c.positions = 8;
  request.mesh = {{tp}, {"tp"}};
  return request;
}

bool occurs(Fault fault, const Request& request) {
  const std::vector<Fault> all = faults_that_can_occur(request);
  return std::find(all.begin(), all.end(), fault) != all.end();
}

TEST(FaultConditions, NeedSeveralRanks) {
  EXPECT_TRUE(occurs(Fault::row_bias_before_reduce, request_of(Operation::row_linear, 2)));
  EXPECT_FALSE(occurs(Fault::row_bias_before_reduce, request_of(Operation::row_linear, 1)));
}

TEST(FaultConditions, FollowAnOperationIntoWhatContainsIt) {
  for (const Operation outer : {Operation::mlp, Operation::attention, Operation::transformer_layer,
                                Operation::model, Operation::train})
    EXPECT_TRUE(occurs(Fault::row_bias_before_reduce, request_of(outer, 2))) << name(outer);
  for (const Operation other : {Operation::column_linear, Operation::layer_norm, Operation::vocab_embedding})
    EXPECT_FALSE(occurs(Fault::row_bias_before_reduce, request_of(other, 2))) << name(other);
}

TEST(FaultConditions, ReadTheConfiguration) {
  Request request = request_of(Operation::row_linear, 2);
  request.problem.model.mlp_bias = false;
  EXPECT_FALSE(occurs(Fault::row_bias_before_reduce, request));
  request = request_of(Operation::attention, 4);
  EXPECT_FALSE(occurs(Fault::kv_biases_not_summed, request));
  request.problem.model.kv_heads = 2;
  EXPECT_TRUE(occurs(Fault::kv_biases_not_summed, request));
  EXPECT_TRUE(occurs(Fault::kv_copies_summed_under_sp_only, request));
  request.sharding.sequence_parallel = SequenceParallel::kept;
  EXPECT_FALSE(occurs(Fault::kv_copies_summed_under_sp_only, request));
}

TEST(FaultConditions, ChecksMatterWhereTheyRefuse) {
  Request request = request_of(Operation::attention, 2);
  EXPECT_FALSE(occurs(Fault::heads_unchecked, request));
  request.problem.model.heads = 5;
  EXPECT_TRUE(occurs(Fault::heads_unchecked, request));
  EXPECT_FALSE(occurs(Fault::qkv_cut_as_one, request));
}

TEST(FaultConditions, OfACollectiveAreThoseOfTheCall) {
  Request request;
  CollectiveProblem call{.kind = CollectiveKind::broadcast};
  const auto occurs_in = [&](Fault fault) {
    request.problem.asked = call;
    return occurs(fault, request);
  };
  request.mesh = {{4}, {"tp"}};
  EXPECT_TRUE(occurs_in(Fault::copy_in_16_bytes));
  EXPECT_FALSE(occurs_in(Fault::root_read_as_world_rank));
  EXPECT_FALSE(occurs_in(Fault::order_depends_on_rank));
  call.kind = CollectiveKind::all_reduce;
  EXPECT_TRUE(occurs_in(Fault::order_depends_on_rank));
  EXPECT_FALSE(occurs_in(Fault::single_rank_copy_in_blocks));
  call.members = {1, 2};
  call.kind = CollectiveKind::broadcast;
  EXPECT_TRUE(occurs_in(Fault::root_read_as_world_rank));
  call.kind = CollectiveKind::all_reduce;
  call.members = {1};
  EXPECT_TRUE(occurs_in(Fault::single_rank_copy_in_blocks));
}

TEST(Glob, MatchesWholeTexts) {
  EXPECT_TRUE(matches("TP-0?", "TP-01"));
  EXPECT_FALSE(matches("TP-0?", "TP-011"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("C*-1*", "COMM-13"));
  EXPECT_FALSE(matches("COMM", "COMM-13"));
  EXPECT_TRUE(matches_one_of("TP-01,COMM-*", "COMM-13"));
  EXPECT_FALSE(matches_one_of("TP-01,COMM-*", "TP-10"));
}

}  // namespace
}  // namespace tpc
