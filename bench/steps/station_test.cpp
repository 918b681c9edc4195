// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/station.hpp"

#include <gtest/gtest.h>

#include "bench/steps/dry_step.hpp"
#include "bench/steps/replay.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

StackShape tiny(SequenceParallel sp = SequenceParallel::off) {
  StackShape shape;
  shape.model.layers = 2;
  shape.model.hidden = 16;
  shape.model.heads = 4;
  shape.model.kv_heads = 2;
  shape.model.head_dim = 4;
  shape.model.ffn = 32;
  shape.model.vocab = 16;
  shape.model.positions = 8;
  shape.batch = 2;
  shape.sequence = 8;
  shape.form = {sp};
  return shape;
}

constexpr Plan quick{.rounds = 1, .samples = 2, .seconds = 0.001, .least_sample_s = 1e-9};

std::string complaint_of(const StackShape& shape, Pass pass, const Planted& planted, int size) {
  const std::vector<Signatures> references = {baseline_signatures(shape, 0), baseline_signatures(shape, 1)};
  std::string complaint;
  on_local_ranks(size, [&](const CommunicatorPtr& ranks) {
    const auto compute = make_host_compute();
    Station station(shape, pass, ranks, *compute, planted, false, &references);
    const Series series = measure(*ranks, {station.subject("step")}, quick, plain_loop()).front();
    if (ranks->rank() == 0) complaint = series.wrong;
  });
  return complaint;
}

TEST(Station, WhatIsTimedIsRight) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::step})
    for (const auto sp : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered})
      for (const int size : {1, 2, 4})
        EXPECT_EQ(complaint_of(tiny(sp), pass, {}, size), "") << name(pass) << size;
}

TEST(Station, OverlappedTheResultIsTheSameAndSoIsThePayload) {
  for (const auto sp : {SequenceParallel::kept, SequenceParallel::regathered})
    for (const int chunks : {2, 3}) {
      StackShape shape = tiny(sp);
      shape.form.overlap_chunks = chunks;
      EXPECT_EQ(complaint_of(shape, Pass::step, {}, 2), "") << name(shape.form);
      for (const Pass pass : {Pass::forward, Pass::step}) {
        const StepContent content = dry_step(shape, pass, 4);
        const ExpectedVolume expected = expected_volume(shape, pass, 4);
        EXPECT_EQ(content.payload_bytes(), expected.payload_bytes) << name(shape.form);
        EXPECT_EQ(static_cast<std::int64_t>(content.calls.size()), expected.calls) << name(shape.form);
        EXPECT_EQ(content.payload_bytes(), dry_step(tiny(sp), pass, 4).payload_bytes());
      }
    }
}

TEST(Form, IsReadFromItsName) {
  for (const Form form : {Form{}, Form{SequenceParallel::kept}, Form{SequenceParallel::regathered, 4}})
    EXPECT_EQ(form_named(name(form)), form);
  EXPECT_EQ(name(Form{SequenceParallel::kept, 2}), "kept_overlap2");
}

TEST(Station, APlantedWrongResultIsRefused) {
  Planted planted = planted_in("reference+wrong:all_reduce");
  EXPECT_NE(complaint_of(tiny(), Pass::step, planted, 2).find("is off by"), std::string::npos);
  planted = planted_in("reference+wrong:reduce_scatter");
  EXPECT_NE(complaint_of(tiny(SequenceParallel::kept), Pass::forward, planted, 2), "");
  EXPECT_EQ(complaint_of(tiny(), Pass::step, planted, 2), "");  // not called there
}

TEST(Station, TimeIsSplitUp) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    const auto compute = make_host_compute();
    Station station(tiny(), Pass::step, ranks, *compute, {}, false, nullptr);
    measure(*ranks, {station.subject("step")}, quick, plain_loop());
    const Split& split = station.splits().back();
    for (const double part : {split.products_s, split.other_s, split.communication_s, split.launch_s()})
      EXPECT_GT(part, 0);
    EXPECT_EQ(station.kernels().others.at("gelu").calls, 2);
    EXPECT_EQ(station.calls().size(), 8U);
  });
}

TEST(Station, SilenceIsComputationAlone) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    const auto compute = make_host_compute();
    Station station(tiny(SequenceParallel::kept), Pass::step, ranks, *compute, {}, true, nullptr);
    measure(*ranks, {station.subject("compute_only")}, quick, plain_loop());
    EXPECT_EQ(station.splits().back().communication_s, 0);
    EXPECT_GT(station.kernels().product_s(), 0);
  });
}

TEST(Station, ASlowRankIsSlow) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    const auto compute = make_host_compute();
    Station station(tiny(), Pass::step, ranks, *compute, planted_in("reference+slow-rank:1:20"), false,
                    nullptr);
    measure(*ranks, {station.subject("step")}, quick, plain_loop());
    const double own = station.splits().back().products_s + station.splits().back().other_s;
    const double slowest = largest(*ranks, own);
    if (ranks->rank() != 0) return;
    EXPECT_GT(slowest, 3 * own);
  });
}

TEST(DryStep, IsWhatARealStepIs) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::step})
    for (const auto sp : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered})
      for (const int size : {1, 2, 4})
        on_local_ranks(size, [&](const CommunicatorPtr& ranks) {
          const auto compute = make_host_compute();
          Station real(tiny(sp), pass, ranks, *compute, {}, false, nullptr);
          measure(*ranks, {real.subject("step")}, quick, plain_loop());
          const StepContent dry = dry_step(tiny(sp), pass, size);
          EXPECT_EQ(dry.kernels.products.size(), real.kernels().products.size());
          for (const auto& [shape, use] : dry.kernels.products)
            EXPECT_EQ(use.calls, real.kernels().products.at(shape).calls) << to_string(shape);
          for (const auto& [kernel, use] : dry.kernels.others)
            EXPECT_EQ(use.bytes, real.kernels().others.at(kernel).bytes) << kernel;
          ASSERT_EQ(dry.calls.size(), real.calls().size());
          for (std::size_t i = 0; i < dry.calls.size(); ++i) {
            EXPECT_EQ(dry.calls[i].kind, real.calls()[i].kind);
            EXPECT_EQ(dry.calls[i].payload, real.calls()[i].payload);
          }
          EXPECT_EQ(dry.saved_bytes, real.saved_bytes());
        });
}

TEST(DryStep, VolumeIsTheFormulas) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::step})
    for (const auto sp : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered})
      for (const int size : {1, 2, 4}) {
        const StepContent content = dry_step(tiny(sp), pass, size);
        const ExpectedVolume expected = expected_volume(tiny(sp), pass, size);
        EXPECT_EQ(static_cast<std::int64_t>(content.calls.size()), expected.calls) << name(pass) << size;
        EXPECT_DOUBLE_EQ(content.payload_bytes(), expected.payload_bytes) << name(pass) << size;
      }
}

TEST(DryStep, TheDocumentsModelSendsWhatTheDocumentSays) {
  StackShape shape;
  shape.model.layers = 80;
  shape.model.hidden = 8192;
  shape.model.heads = shape.model.kv_heads = 64;
  shape.model.head_dim = 128;
  shape.model.ffn = 32768;
  shape.batch = 8;
  shape.sequence = 2048;
  shape.dtype = DType::bf16;
  for (const int ranks : {2, 4, 8}) {
    const StepContent content = dry_step(shape, Pass::step, ranks);
    EXPECT_EQ(content.payload_bytes(), 85899345920.0);
    EXPECT_DOUBLE_EQ(content.ring_wire_bytes(), 85899345920.0 * 2 * (ranks - 1) / ranks);
  }
}

TEST(Replay, SendsAndMultipliesAsTheStepDoes) {
  on_local_ranks(2, [](const CommunicatorPtr& ranks) {
    const StepContent content = dry_step(tiny(SequenceParallel::kept), Pass::step, 2);
    const auto calls_before = ranks->log().collectives;
    communication_subject(*ranks, content.calls).run(0);
    EXPECT_EQ(ranks->log().collectives - calls_before, static_cast<std::int64_t>(content.calls.size()));

    const auto compute = make_host_compute();
    KernelLog log;
    const LogScope scope(*compute, log);
    products_subject(*compute, content.kernels.products).run(0);
    ASSERT_EQ(log.products.size(), content.kernels.products.size());
    for (const auto& [shape, use] : content.kernels.products)
      EXPECT_EQ(log.products.at(shape).calls, use.calls);
  });
}

TEST(Planted, IsReadFromTheImplementationsName) {
  EXPECT_EQ(planted_in("reference+slow-rank:3:0.5").slow_rank, 3);
  EXPECT_EQ(planted_in("reference+slow:all_gather:0.25").drag, 0.25);
  for (const char* bad : {"other", "reference+", "reference+slow:all_reduce", "reference+wrong:send",
                          "reference+slow-rank:1:-1"})
    EXPECT_THROW(planted_in(bad), UsageError) << bad;
}

}  // namespace
}  // namespace tpc::bench
