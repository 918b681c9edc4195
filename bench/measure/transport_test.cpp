// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/transport.hpp"

#include <gtest/gtest.h>

#include "harness/run/implementations.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

TEST(Transport, ReadsTheCountersOfInterfaces) {
  const auto sent = sent_bytes(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
      "colls\n"
      "    lo: 11 2 0 0 0 0 0 0 1100 2 0 0 0 0 0 0\n"
      "veth0:5 6 7 8 9 10 11 12 99 14 15 16 17 18 19 20\n");
  EXPECT_EQ(sent, (std::map<std::string, std::uint64_t>{{"lo", 1100}, {"veth0", 99}}));
}

TEST(Transport, WhatNoInterfaceCarriedWentThroughMemory) {
  EXPECT_EQ(carrier({{"lo", 100}, {"eth0", 0}}, {{"lo", 110}, {"eth0", 3}}, 1000), "shm");
  EXPECT_EQ(carrier({{"lo", 100}, {"eth0", 0}}, {{"lo", 1200}, {"eth0", 3}}, 1000), "tcp(lo)");
  EXPECT_EQ(carrier({}, {{"veth1", 1000}}, 1000), "tcp(veth1)");
}

TEST(Transport, ThreadsShareHostAndMachine) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    const RankPlaces places = places_of(*ranks);
    EXPECT_EQ(places.hosts, 1);
    EXPECT_EQ(places.most_on_a_machine, 3);
    EXPECT_EQ(places.host_names.size(), 3U);
  });
  EXPECT_EQ(places_of(*make_single_communicator()).transport, "none");
}

}  // namespace
}  // namespace tpc::bench
