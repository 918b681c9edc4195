// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/interconnect.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tpc::bench {
namespace {

using Kind = CollectiveKind;
constexpr double document_payload =
    320 * 268435456.0;  // 80 layers, four all_reduces each, B 8, S 2048, H 8192

std::vector<Interconnect> shipped() { return read_interconnects(TPC_BENCH_FOLDER "/interconnects.json"); }

LinkTimes times_on(const std::string& name, int ranks) {
  const auto all = shipped();
  return link_times(levels_of(all, interconnect_named(all, name), ranks), Kind::all_reduce, document_payload);
}

TEST(Interconnect, TheDocumentsTableIsPayloadOverHeadlineRate) {
  EXPECT_NEAR(times_on("nvlink4", 8).document_s, 0.0954, 5e-5);
  EXPECT_NEAR(times_on("pcie5", 8).document_s, 1.342, 5e-4);
  EXPECT_NEAR(times_on("ib-hdr", 8).document_s, 3.436, 5e-4);
}

TEST(Interconnect, TheWireBoundGrowsWithTheRanks) {
  EXPECT_NEAR(times_on("nvlink4", 2).bound_s, 0.191, 5e-4);
  EXPECT_NEAR(times_on("nvlink4", 4).bound_s, 0.286, 5e-4);
  EXPECT_NEAR(times_on("nvlink4", 8).bound_s, 0.334, 5e-4);
  EXPECT_NEAR(times_on("ib-ndr", 8).bound_s, 3.006, 5e-4);
  EXPECT_EQ(times_on("nvlink4", 1).bound_s, 0);
}

TEST(Interconnect, TheDocumentAsALinkSendsThePayloadAtAnyRankCount) {
  EXPECT_DOUBLE_EQ(times_on("document", 2).bound_s, times_on("document", 8).bound_s);
  EXPECT_NEAR(times_on("document", 8).expected_s, 0.0954, 5e-5);
}

TEST(Interconnect, TheSwitchIsTakenWhereItWins) {
  const auto all = shipped();
  const Interconnect& link = interconnect_named(all, "nvlink4");
  const auto busbw = [&](int ranks) {
    const double seconds = link_times(levels_of(all, link, ranks), Kind::all_reduce, 8e9).expected_s;
    return bus_bandwidth(Kind::all_reduce, ranks, 8e9, seconds) / 1e9;
  };
  EXPECT_NEAR(busbw(8), 473.1, 10);  // measured on H200
  EXPECT_NEAR(busbw(4), 363.3, 10);
}

TEST(Interconnect, BeyondAHostTheSlowLinkIsOnTheWay) {
  const auto all = shipped();
  const Levels levels = levels_of(all, interconnect_named(all, "nvlink4"), 16);
  EXPECT_EQ(levels.hosts, 2);
  EXPECT_EQ(levels.per_host, 8);
  const LinkTimes times = link_times(levels, Kind::all_reduce, 8e9);
  EXPECT_DOUBLE_EQ(times.wire_bytes, 1.75 * 8e9);
  EXPECT_DOUBLE_EQ(times.wire_bytes_between, 1e9);
  EXPECT_GT(times.expected_s, 1e9 / 50e9 + 1.75 * 8e9 / 450e9);
  EXPECT_DOUBLE_EQ(times.bound_s, 1.75 * 8e9 / 450e9);
  EXPECT_THROW(levels_of(all, interconnect_named(all, "nvlink4"), 17), Refusal);
}

TEST(Interconnect, EveryShippedFigureHasASource) {
  for (const Interconnect& link : shipped()) EXPECT_FALSE(link.source.empty()) << link.name;
}

std::string message_of(const std::string& content) {
  const std::string path = testing::TempDir() + "/links.json";
  std::ofstream(path) << content;
  try {
    read_interconnects(path);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(InterconnectFile, SaysWhatIsWrong) {
  const std::string head = R"({"schema": "tp_bench.interconnects", "version": 1, "interconnects": [)";
  EXPECT_NE(message_of("no json").find("is no JSON of schema"), std::string::npos);
  EXPECT_NE(message_of(R"({"schema": "other"})").find("is no JSON of schema"), std::string::npos);
  EXPECT_NE(message_of(head + R"({"name": "x", "source": "s"}]})").find("'bytes_per_s'"), std::string::npos);
  EXPECT_NE(message_of(head + R"({"name": "x", "bytes_per_s": 1}]})").find("'source'"), std::string::npos);
  EXPECT_NE(message_of(head + R"({"name": "x", "source": "s", "bytes_per_s": 1, "efficiency": 2}]})")
                .find("'efficiency'"),
            std::string::npos);
  EXPECT_NE(
      message_of(head + R"({"name": "x", "source": "s", "bytes_per_s": 1, "ranks": 2}]})").find("'beyond'"),
      std::string::npos);
  EXPECT_EQ(message_of(head + R"({"name": "x", "source": "s", "bytes_per_s": 1}]})"), "");
  EXPECT_THROW(read_interconnects("/nowhere/links.json"), UsageError);
  EXPECT_THROW(interconnect_named(shipped(), "nvlink9"), UsageError);
}

}  // namespace
}  // namespace tpc::bench
