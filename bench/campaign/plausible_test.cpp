// SPDX-License-Identifier: Apache-2.0
#include "bench/campaign/plausible.hpp"

#include <gtest/gtest.h>

namespace tpc::bench {
namespace {

Row row_of(const std::string& kind, const std::map<std::string, double>& figures, double seconds = 1) {
  Row row;
  row.kind = kind;
  row.tp = 2;
  row.transport = "tcp(veth0)";
  row.payload_bytes = 64 << 20;
  row.figures = figures;
  row.seconds.median = seconds;
  return row;
}

Row judged(const Row& row, const Limits& limits, const std::vector<Row>& others = {}) {
  Results results;
  results.rows = {row};
  results.rows.insert(results.rows.end(), others.begin(), others.end());
  refuse_impossible(results, limits);
  return results.rows.front();
}

TEST(Impossible, ACollectiveBeyondItsLink) {
  const Row row = row_of("collective", {{"bus_bandwidth_gb_per_s", 0.2}});
  EXPECT_EQ(judged(row, {.link_bytes_per_s = 0.125e9}).status, "fail");
  EXPECT_NE(judged(row, {.link_bytes_per_s = 0.125e9}).reason.find("impossible: 0.2 GB/s on a link of 0.125"),
            std::string::npos);
  EXPECT_EQ(judged(row, {.link_bytes_per_s = 0.25e9}).status, "ok");
  EXPECT_EQ(judged(row, {}).status, "ok");  // nobody knows the rate
}

TEST(Impossible, AStepBeyondItsProductsOrItsDevice) {
  const Row step = row_of("step", {{"flops", 100e9}});
  const Row product = row_of("gemm", {{"gflop_per_s", 80}});
  EXPECT_EQ(judged(step, {}, {product}).status, "fail");
  EXPECT_EQ(judged(step, {.peak_flops_per_s = 90e9}).status, "fail");
  EXPECT_NE(judged(step, {.peak_flops_per_s = 90e9}).reason.find("% of the device's peak"),
            std::string::npos);
  EXPECT_EQ(judged(step, {.peak_flops_per_s = 200e9}, {row_of("gemm", {{"gflop_per_s", 120}})}).status, "ok");
}

}  // namespace
}  // namespace tpc::bench
