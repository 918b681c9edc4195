// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/outside_step.hpp"

#include <gtest/gtest.h>

#include "harness/run/implementations.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

// The reference, with times of its own: rank r needs r + 1 milliseconds.
class Timed : public Implementation {
 public:
  using Change = std::function<void(Response&)>;
  Timed(int rank, Change change) : rank_(rank), change_(std::move(change)) {}
  std::string name() const override { return "exec:timed"; }
  std::string identity() const override { return "timed 1.0"; }
  Response stand_by(const Request&, int) override {
    Response idle;
    idle.status = Response::Status::result;
    return idle;
  }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    Response response = inner_->run(request, ranks);
    response.seconds.assign(static_cast<std::size_t>(request.timing.samples), 1e-3 * (rank_ + 1));
    if (change_) change_(response);
    return response;
  }

 private:
  int rank_;
  Change change_;
  std::unique_ptr<Implementation> inner_ = make_reference_implementation();
};

StepSetting small_step() {
  StepSetting setting;
  setting.shape.model.hidden = 32;
  setting.shape.model.heads = setting.shape.model.kv_heads = 4;
  setting.shape.model.head_dim = 8;
  setting.shape.model.ffn = 64;
  setting.shape.model.layers = 1;
  setting.shape.batch = 2;
  setting.shape.sequence = 8;
  setting.forms = {{SequenceParallel::off}, {SequenceParallel::kept}, {SequenceParallel::kept, 2}};
  setting.plan = {.samples = 6};
  return setting;
}

// On two of three ranks; `change` is done to every answer of rank 1.
std::vector<Row> measured(const StepSetting& setting, const Timed::Change& change = {}) {
  std::vector<Row> rows;
  on_local_ranks(3, [&](const CommunicatorPtr& world) {
    Timed implementation(world->rank(), world->rank() == 1 ? change : Timed::Change());
    OutsideSteps outside(implementation, *world, [&] { largest(*world, 0); });
    const bool member = world->rank() < 2;
    const CommunicatorPtr ranks =
        world->subgroup(member ? std::vector{0, 1} : std::vector<int>(), member ? "two" : "none");
    std::vector<Row> own = outside.measure(setting, member ? ranks : nullptr, 2, {});
    EXPECT_EQ(own.empty(), !member);
    if (world->rank() == 0) rows = std::move(own);
  });
  return rows;
}

TEST(OutsideStep, IsTimedByItselfAndJudged) {
  const std::vector<Row> rows = measured(small_step());
  ASSERT_EQ(rows.size(), 2U);  // what overlaps is the reference's alone
  for (const Row& row : rows) {
    EXPECT_EQ(row.status, "ok") << row.reason;
    EXPECT_EQ(row.implementation, "timed");
    EXPECT_EQ(row.seconds.median, 2e-3);  // of the slowest rank
    EXPECT_EQ(row.series.slowest.size(), 6U);
    EXPECT_EQ(row.series.by_rank.at(0).front(), 1e-3);
    EXPECT_GT(row.figures.at("payload_counted_bytes"), 0);
  }
}

TEST(OutsideStep, AWrongOrMissingResultHasNoFigureOfMerit) {
  const auto reason = [](const Timed::Change& change) {
    const std::vector<Row> rows = measured(small_step(), change);
    EXPECT_EQ(rows.front().status, "fail");
    return rows.front().reason;
  };
  EXPECT_NE(reason([](Response& r) { r.tensors.front().data.data<float>()[0] += 9; }).find("is off by"),
            std::string::npos);
  EXPECT_NE(reason([](Response& r) { r.tensors.pop_back(); }).find("ranks 0 and 1 answer different tensors"),
            std::string::npos);
  EXPECT_NE(reason([](Response& r) {
              r.tensors.front().placement.blocks.front().extent[0] += 1;
            }).find("a block outside of it"),
            std::string::npos);
  EXPECT_NE(reason([](Response& r) { r.seconds.pop_back(); }).find("asked for 3 samples and answers 2"),
            std::string::npos);
  EXPECT_NE(reason([](Response& r) { r.seconds.front() = -1; }).find("a time that it answers is none"),
            std::string::npos);
  EXPECT_NE(reason([](Response& r) {
              r.status = Response::Status::error;
              r.reason = "it broke";
            }).find("rank 1: it broke"),
            std::string::npos);
}

TEST(OutsideStep, WhatIsLackingIsSkippedByName) {
  const std::vector<Row> rows = measured(small_step(), [](Response& response) {
    response.status = Response::Status::unsupported;
    response.reason = "no blocks";
  });
  EXPECT_EQ(rows.front().status, "skip");
  EXPECT_EQ(rows.front().reason, "rank 1: no blocks");
  EXPECT_EQ(measured(small_step(), [](Response& r) { r.seconds.clear(); }).front().reason,
            "rank 1: it answers without times");
  StepSetting two_layers = small_step();
  two_layers.shape.model.layers = 2;
  EXPECT_EQ(measured(two_layers).front().status, "skip");
}

}  // namespace
}  // namespace tpc::bench
