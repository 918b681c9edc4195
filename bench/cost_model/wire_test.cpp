// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/wire.hpp"

#include <gtest/gtest.h>

namespace tpc::bench {
namespace {

using Kind = CollectiveKind;

TEST(Wire, RingSendsOnceOneAndAHalfAndOneAndThreeQuarters) {
  for (const auto& [ranks, factor] : {std::pair{1, 0.0}, {2, 1.0}, {4, 1.5}, {8, 1.75}}) {
    EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, Algorithm::ring, ranks, 1000), factor * 1000);
    EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_gather, Algorithm::ring, ranks, 1000), factor * 500);
  }
}

TEST(Wire, AnAllReduceIsAReduceScatterAndAnAllGather) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    const WireCost whole = wire_cost(Kind::all_reduce, Algorithm::ring, ranks);
    const WireCost first = wire_cost(Kind::reduce_scatter, Algorithm::ring, ranks);
    const WireCost second = wire_cost(Kind::all_gather, Algorithm::ring, ranks);
    EXPECT_DOUBLE_EQ(whole.bytes_per_payload, first.bytes_per_payload + second.bytes_per_payload);
    EXPECT_DOUBLE_EQ(whole.steps, first.steps + second.steps);
    EXPECT_DOUBLE_EQ(whole.reduced_per_payload, first.reduced_per_payload + second.reduced_per_payload);
  }
}

TEST(Wire, DoublingSendsTheWholeOncePerRound) {
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_reduce, Algorithm::recursive_doubling, 8).bytes_per_payload, 3);
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_reduce, Algorithm::recursive_doubling, 8).steps, 3);
  // Three ranks: one joins before and is answered after the round of the other two.
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_reduce, Algorithm::recursive_doubling, 3).bytes_per_payload, 2);
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_reduce, Algorithm::recursive_doubling, 3).steps, 3);
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_gather, Algorithm::recursive_doubling, 4).bytes_per_payload, 0.75);
}

TEST(Wire, TreeAndSwitch) {
  EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, Algorithm::tree, 2, 10), 10);
  EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, Algorithm::tree, 16, 10), 20);
  EXPECT_DOUBLE_EQ(wire_cost(Kind::all_reduce, Algorithm::tree, 16).steps, 8);
  EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, Algorithm::in_switch, 8, 8), 9);
}

TEST(Wire, ThePayloadIsTheSameForAllRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, Algorithm::payload, ranks, 123), 123);
}

TEST(Wire, NothingIsSentOnOneRank) {
  for (const auto algorithm :
       {Algorithm::ring, Algorithm::tree, Algorithm::recursive_doubling, Algorithm::in_switch})
    EXPECT_DOUBLE_EQ(wire_bytes(Kind::all_reduce, algorithm, 1, 1e9), 0);
}

TEST(Wire, WhatAnAlgorithmDoesNotServeIsRefused) {
  EXPECT_THROW(wire_bytes(Kind::all_gather, Algorithm::in_switch, 8, 1), ContractError);
  EXPECT_THROW(wire_bytes(Kind::reduce_scatter, Algorithm::tree, 8, 1), ContractError);
}

TEST(Wire, BusBandwidth) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(Kind::all_reduce, 8, 1e9, 1), 1.75e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth(Kind::all_gather, 8, 1e9, 1), 0.875e9);
  EXPECT_THROW(bus_bandwidth(Kind::all_reduce, 1, 1e9, 1), ContractError);
}

TEST(Wire, Names) {
  EXPECT_EQ(algorithm_named("in_switch"), Algorithm::in_switch);
  EXPECT_THROW(algorithm_named("rings"), UsageError);
}

}  // namespace
}  // namespace tpc::bench
