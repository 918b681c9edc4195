// SPDX-License-Identifier: Apache-2.0
#include "bench/campaign/campaign.hpp"

#include <gtest/gtest.h>

#include <set>

#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

CampaignSetting small_setting() {
  CampaignSetting setting;
  setting.shape.model.hidden = 32;
  setting.shape.model.heads = setting.shape.model.kv_heads = 4;
  setting.shape.model.head_dim = 8;
  setting.shape.model.ffn = 64;
  setting.shape.model.vocab = 16;
  setting.shape.model.positions = 8;
  setting.shape.batch = 2;
  setting.shape.sequence = 8;
  setting.forms = {{SequenceParallel::off}, {SequenceParallel::kept}, {SequenceParallel::kept, 2}};
  setting.tp = {2, 4};
  setting.samples = 2;
  setting.seconds = 0.1;
  setting.largest_bytes = 128;
  return setting;
}

Results run_on_threads(const CampaignSetting& setting, int size = 4) {
  Results results;
  on_local_ranks(size, [&](const CommunicatorPtr& ranks) {
    BenchWorld world;
    world.ranks = ranks;
    world.loop = plain_loop();
    world.rest = [&] { largest(*ranks, 0); };
    Results mine;
    run_campaign(setting, world, mine, [] {});
    if (ranks->rank() != 0) return;
    conclude(setting, mine);
    results = std::move(mine);
  });
  return results;
}

std::vector<Row> rows_of(const Results& results, const std::string& kind) {
  std::vector<Row> rows;
  for (const Row& row : results.rows)
    if (row.kind == kind) rows.push_back(row);
  return rows;
}

TEST(Campaign, MeasuresEveryDegreeAndFormAndTheBase) {
  const Results results = run_on_threads(small_setting());
  const auto steps = rows_of(results, "step");
  ASSERT_EQ(steps.size(), 7U);  // T = 1; T = 2, 4 without and with sequence parallelism, and overlapped
  for (const Row& step : steps) {
    EXPECT_EQ(step.status, "ok") << step.reason;
    EXPECT_EQ(step.figures.at("payload_counted_bytes"), step.figures.at("payload_formula_bytes"));
    EXPECT_EQ(step.figures.contains("overlap_gain"), step.sequence_parallel == "kept_overlap2");
    if (step.figures.contains("overlap_gain")) continue;  // no model of it
    for (const char* figure : {"model_document_s", "model_wire_bound_s", "model_calibrated_s", "products_s"})
      EXPECT_GT(step.figures.at(figure), 0) << figure;
    EXPECT_EQ(step.figures.contains("efficiency"), step.tp > 1 && !step.oversubscribed);
  }
  EXPECT_EQ(rows_of(results, "compute_only").size(), 6U);
  EXPECT_EQ(rows_of(results, "products_only").size(), 3U);
  EXPECT_EQ(results.fits.size(), 6U);
  EXPECT_FALSE(results.fingerprints.empty());
}

TEST(Campaign, WithoutSequenceParallelismThePayloadIsTheSameForAllDegrees) {
  for (const Row& step : rows_of(run_on_threads(small_setting()), "step"))
    if (step.tp > 1 && step.sequence_parallel == "off") {
      EXPECT_EQ(step.figures.at("payload_counted_bytes"), 4 * 2 * 8 * 32 * 4);
      EXPECT_DOUBLE_EQ(step.figures.at("ring_wire_bytes"),
                       4 * 2 * 8 * 32 * 4 * 2.0 * (step.tp - 1) / step.tp);
    }
}

TEST(Campaign, AWrongResultHasNoFigureOfMerit) {
  CampaignSetting setting = small_setting();
  setting.implementation = "reference+wrong:all_reduce";
  const Results results = run_on_threads(setting);
  for (const Row& step : rows_of(results, "step")) {
    if (step.tp == 1 || step.sequence_parallel != "off") continue;
    EXPECT_EQ(step.status, "fail");
    EXPECT_FALSE(step.figures.contains("efficiency"));
  }
  for (const Row& row : rows_of(results, "collective"))
    EXPECT_EQ(row.status, row.op == "all_reduce" ? "fail" : "ok") << key(row);
}

TEST(Campaign, CollectivesAlone) {
  CampaignSetting setting = small_setting();
  setting.what = CampaignSetting::What::collectives;
  const Results results = run_on_threads(setting);
  const std::size_t sizes = collective_sizes(setting.largest_bytes).size();
  EXPECT_EQ(rows_of(results, "collective").size(), 2 * 3 * sizes);
  EXPECT_EQ(rows_of(results, "yardstick").size(), 2U);
  for (const Row& row : rows_of(results, "collective")) {
    EXPECT_EQ(row.status, "ok") << row.reason;
    EXPECT_GT(row.figures.at("bus_bandwidth_gb_per_s"), 0);
  }
}

TEST(Campaign, NoTwoRowsHaveOneKey) {
  CampaignSetting collectives = small_setting();
  collectives.what = CampaignSetting::What::collectives;
  collectives.tp = {8};  // where 8 and 32 bytes are an element per rank
  for (const CampaignSetting& setting : {collectives, small_setting()}) {
    std::set<std::string> keys;
    const Results results = run_on_threads(setting, 8);
    for (const Row& row : results.rows) EXPECT_TRUE(keys.insert(key(row)).second) << key(row);
  }
}

TEST(Campaign, ProductsAlone) {
  CampaignSetting setting = small_setting();
  setting.what = CampaignSetting::What::gemm;
  const Results results = run_on_threads(setting);
  EXPECT_TRUE(rows_of(results, "step").empty());
  EXPECT_FALSE(rows_of(results, "gemm").empty());
  for (const Row& row : rows_of(results, "gemm")) {
    EXPECT_GT(row.figures.at("gflop_per_s"), 0);
  }
}

TEST(Campaign, IsRefusedBeforeAnythingIsMeasured) {
  CampaignSetting setting = small_setting();
  setting.tp = {3};
  EXPECT_THROW(check_setting(setting, 4), Refusal);
  setting.tp = {8};
  EXPECT_THROW(check_setting(setting, 4), UsageError);
  setting = small_setting();
  setting.implementation = "other";
  EXPECT_THROW(check_setting(setting, 4), UsageError);
}

}  // namespace
}  // namespace tpc::bench
