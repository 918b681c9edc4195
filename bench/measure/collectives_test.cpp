// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/collectives.hpp"

#include <gtest/gtest.h>

#include "bench/measure/row.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

constexpr Plan quick{.rounds = 1, .samples = 2, .seconds = 0.001, .least_sample_s = 1e-9};

TEST(Collectives, EveryResultIsChecked) {
  for (const int size : {1, 2, 3})
    on_local_ranks(size, [](const CommunicatorPtr& ranks) {
      for (const CollectiveKind kind : timed_collectives)
        for (const DType dtype : {DType::f32, DType::bf16}) {
          const Subject subject = timed_collective(*ranks, kind, dtype, 12).subject;
          EXPECT_EQ(measure(*ranks, {subject}, quick, plain_loop()).front().wrong, "") << subject.name;
        }
    });
}

TEST(Collectives, WhatWasNotWrittenIsNoticed) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    for (const CollectiveKind kind : timed_collectives) {
      const Subject subject = timed_collective(*ranks, kind, DType::f32, 4).subject;
      subject.prepare(0);
      EXPECT_NE(subject.check(0).find("element 0 is nan"), std::string::npos) << subject.check(0);
      subject.run(0);
      EXPECT_EQ(subject.check(0), "");
      EXPECT_NE(subject.check(1), "");  // another slot has another answer
    }
  });
}

TEST(Collectives, AnUnevenShardIsRefused) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    EXPECT_THROW(timed_collective(*ranks, CollectiveKind::all_gather, DType::f32, 3), ContractError);
  });
}

TEST(Collectives, Sizes) {
  EXPECT_EQ(collective_sizes(100), (std::vector<std::int64_t>{8, 32, 100}));
  EXPECT_EQ(collective_sizes(64 << 20).size(), 18U);
}

TEST(Fingerprints, AreTheSameOnAllRanksAndInEveryRun) {
  std::vector<Fingerprint> first;
  on_local_ranks(3, [&](const CommunicatorPtr& ranks) {
    const auto prints = reduction_fingerprints(*ranks);
    if (ranks->rank() == 0) first = prints;
    for (const Fingerprint& print : prints) EXPECT_TRUE(print.agreed) << print.what;
  });
  on_local_ranks(3, [&](const CommunicatorPtr& ranks) {
    const auto prints = reduction_fingerprints(*ranks);
    if (ranks->rank() != 0) return;
    for (std::size_t i = 0; i < prints.size(); ++i) EXPECT_EQ(prints[i].bits, first[i].bits);
  });
}

TEST(Rows, AreNamedByWhatWasMeasured) {
  Row row;
  row.kind = "collective";
  row.op = "all_reduce";
  row.dtype = "f32";
  row.tp = 2;
  row.payload_bytes = 1024;
  row.transport = "shm";
  EXPECT_EQ(key(row), "collective/all_reduce/f32/tp2/bytes1024/shm");
}

TEST(Rows, AWrongResultIsNoResult) {
  Row row;
  row.series.slowest = {1, 1, 1};
  row.series.wrong = "rank 0: element 3 is nan, not 1";
  summarise(row);
  EXPECT_EQ(row.status, "fail");
  Row empty;
  summarise(empty);
  EXPECT_EQ(empty.status, "skip");
}

}  // namespace
}  // namespace tpc::bench
