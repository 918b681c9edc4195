// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "bench/predict/predict_report.hpp"

namespace tpc::bench {
namespace {

StackShape document_model() {
  StackShape shape;
  shape.model.layers = 80;
  shape.model.hidden = 8192;
  shape.model.heads = shape.model.kv_heads = 64;
  shape.model.head_dim = 128;
  shape.model.ffn = 28672;
  shape.model.mlp = MlpKind::swiglu;
  shape.model.norm = NormKind::rms_norm;
  shape.model.qkv_bias = shape.model.out_bias = shape.model.mlp_bias = false;
  shape.batch = 8;
  shape.sequence = 2048;
  shape.dtype = DType::bf16;
  return shape;
}

std::vector<Interconnect> links() { return read_interconnects(TPC_BENCH_FOLDER "/interconnects.json"); }

PredictionRequest document_request(const std::string& link) {
  PredictionRequest request;
  request.shape = document_model();
  request.sequence_parallel = {SequenceParallel::off};
  request.tp = {2, 4, 8, 16};
  request.all_links = links();
  request.links = {interconnect_named(request.all_links, link)};
  return request;
}

ComputeModel on(const std::string& device) {
  return compute_model(device_named(read_devices(TPC_BENCH_FOLDER "/devices.json"), device), DType::bf16);
}

TEST(Predict, TheDocumentsTableStandsBesideTheWireBound) {
  const auto steps = predict_all(document_request("nvlink4"), on("h100"));
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[0].document_s, 0);  // one rank sends nothing
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(steps[i].payload_bytes, 85899345920.0);
    EXPECT_NEAR(steps[i].document_s, 0.0954, 1e-4);
  }
  EXPECT_NEAR(steps[1].bound_s, 0.191, 5e-4);
  EXPECT_NEAR(steps[3].bound_s, 0.334, 5e-4);
  EXPECT_EQ(steps[4].hosts, 2);
}

TEST(Predict, EfficiencyFallsWithTheDegreeAndTheLink) {
  const auto fast = predict_all(document_request("nvlink4"), on("h100"));
  const auto slow = predict_all(document_request("ib-hdr"), on("h100"));
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_LT(fast[i].efficiency, fast[i - 1].efficiency);
    EXPECT_LT(slow[i].efficiency, fast[i].efficiency);
  }
}

TEST(Predict, WhatCannotBeSplitIsARefusedRow) {
  PredictionRequest request = document_request("nvlink4");
  request.tp = {3};
  const auto steps = predict_all(request, on("h100"));
  EXPECT_NE(steps.at(1).refused.find("64"), std::string::npos) << steps.at(1).refused;
  EXPECT_NE(prediction_table(steps).find("refused"), std::string::npos);
}

Results measured_on_two_cores() {
  Results results;
  results.run.provenance.cores = 2;
  Row gemm;
  gemm.kind = "gemm";
  gemm.op = to_string(Product{.m = 4, .n = 4, .k = 4});
  gemm.tp = 1;
  gemm.figures["flops"] = 128;
  gemm.seconds.median = 2;
  results.rows.push_back(gemm);
  gemm.tp = 2;
  gemm.seconds.median = 3;
  results.rows.push_back(gemm);
  Row step;
  step.kind = "step";
  step.tp = 1;
  step.figures = {{"s_per_byte_gelu", 0.5}, {"launch_s", 6}, {"kernels", 3}};
  results.rows.push_back(step);
  results.fits.push_back({CollectiveKind::all_reduce, 2, "shm",
                          PiecewiseAlphaBeta::fit({{10, 1 + 10 * 0.1}, {20, 1 + 20 * 0.1}}), 0, 0});
  return results;
}

TEST(Calibration, SumsWhatWasMeasured) {
  const ComputeModel model = compute_model(measured_on_two_cores());
  const Product known{.m = 4, .n = 4, .k = 4};
  EXPECT_DOUBLE_EQ(model.product_s(known, 1), 2);
  EXPECT_DOUBLE_EQ(model.product_s(known, 2), 3);
  EXPECT_DOUBLE_EQ(model.product_s({.m = 8, .n = 4, .k = 4}, 2), 6);  // at the rate of the nearest
  EXPECT_DOUBLE_EQ(model.product_s(known, 8), 8);                     // four ranks share a core
  EXPECT_DOUBLE_EQ(model.kernel_s("gelu", 4, 2), 2);
  EXPECT_DOUBLE_EQ(model.launch_s, 2);

  StepContent content;
  content.kernels.products[known].calls = 2;
  content.kernels.others["gelu"] = {1, 4, 0};
  content.calls.push_back({.kind = CollectiveKind::all_reduce,
                           .op = ReduceOp::sum,
                           .axis = "tp",
                           .group_size = 2,
                           .layer = "",
                           .operation = "",
                           .phase = Phase::forward,
                           .count = 1,
                           .dtype = DType::f32,
                           .payload = 30,
                           .ring_wire = 30});
  const StepPrediction step = predict_step(content, 2, model, collective_model(measured_on_two_cores()));
  EXPECT_DOUBLE_EQ(step.products_s, 6);
  EXPECT_DOUBLE_EQ(step.other_compute_s, 2);
  EXPECT_DOUBLE_EQ(step.launch_s, 6);
  EXPECT_NEAR(step.communication_s, 4, 1e-9);
}

TEST(Calibration, NothingIsSaidOfRanksThatWereNotMeasured) {
  const CollectiveModel model = collective_model(measured_on_two_cores());
  EXPECT_TRUE(std::isnan(model(CollectiveKind::all_reduce, 4, 8)));
  EXPECT_EQ(model(CollectiveKind::all_gather, 1, 8), 0);
}

TEST(Devices, HaveSourcesAndPossibleEfficiencies) {
  for (const Device& device : read_devices(TPC_BENCH_FOLDER "/devices.json"))
    EXPECT_FALSE(device.source.empty());
  EXPECT_THROW(device_named(read_devices(TPC_BENCH_FOLDER "/devices.json"), "x100"), UsageError);
  const std::string path = testing::TempDir() + "/devices.json";
  std::ofstream(path)
      << R"({"schema": "tp_bench.devices", "version": 1, "devices": [{"name": "x", "title": "",
    "source": "", "flops_per_s": {"bf16": 1}, "memory_bytes_per_s": 1, "product_efficiency": 1.2,
    "memory_efficiency": 1, "launch_s": 0}]})";
  EXPECT_THROW(read_devices(path), UsageError);
  EXPECT_THROW(read_devices("/nowhere"), UsageError);
}

}  // namespace
}  // namespace tpc::bench
