// SPDX-License-Identifier: Apache-2.0
#include "reference/parameters/gradients.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

Tensor filled(Compute& compute, DType dtype, double value) {
  const Tensor tensor = compute.allocate(dtype, {2}, "gradient");
  compute.fill(tensor, value);
  return tensor;
}

double second(const Tensor& tensor) {
  const Tensor wide = host_tensor(DType::f64, tensor.shape());
  make_host_compute()->copy(wide, tensor);
  return wide.data<double>()[1];
}

// A tied table in two microbatches is final with its fourth gradient, a bias with its second.
TEST(Gradients, AreFinalWithTheLastDelivery) {
  const auto compute = make_host_compute();
  Gradients gradients({{.name = "table", .uses = 2}, {.name = "bias"}}, {.microbatches = 2});
  std::vector<std::string> final_ones;
  gradients.on_final = [&](const std::string& name) { final_ones.push_back(name); };
  gradients.add(*compute, "table", filled(*compute, DType::f64, 1));
  gradients.add(*compute, "bias", filled(*compute, DType::f64, 2));
  gradients.add(*compute, "table", filled(*compute, DType::f64, 4));
  gradients.add(*compute, "table", filled(*compute, DType::f64, 8));
  EXPECT_THROW(gradients.at("table"), ContractError);
  EXPECT_TRUE(final_ones.empty());
  gradients.add(*compute, "bias", filled(*compute, DType::f64, 16));
  gradients.add(*compute, "table", filled(*compute, DType::f64, 32));
  EXPECT_EQ(final_ones, (std::vector<std::string>{"bias", "table"}));
  EXPECT_EQ(second(gradients.at("table")), 45);
  EXPECT_EQ(second(gradients.at("bias")), 18);
  EXPECT_THROW(gradients.add(*compute, "bias", filled(*compute, DType::f64, 1)), ContractError);
  EXPECT_THROW(gradients.add(*compute, "gain", filled(*compute, DType::f64, 1)), ContractError);
  EXPECT_THROW(gradients.at("gain"), ContractError);
}

// 256 + 1 + 1 stays 256 in bf16, whose next number is 258.
TEST(Gradients, AreSummedInTheDtypeAskedFor) {
  const auto compute = make_host_compute();
  for (const DType sums : {DType::bf16, DType::f32, DType::f64}) {
    Gradients gradients({{.name = "w"}}, {.sums = sums, .microbatches = 3});
    for (const double term : {256, 1, 1}) gradients.add(*compute, "w", filled(*compute, DType::bf16, term));
    EXPECT_EQ(gradients.at("w").dtype(), sums);
    EXPECT_EQ(second(gradients.at("w")), sums == DType::bf16 ? 256 : 258);
  }
}

TEST(Gradients, KnowWhichSumsAreDue) {
  const Placement whole = replicate({2});
  const ParameterPart shared{"k.weight", whole, {Axis::kv_copies, Axis::dp_shard}, 3};
  Gradients gradients({{"gain", {2}, {{"gain", whole, {Axis::tp}}}}, {"k", {2}, {shared}}});
  const PendingGroup tp{Axis::tp, 1};
  const PendingGroup copies{Axis::kv_copies, 3};
  const PendingGroup shards{Axis::dp_shard, 1};
  EXPECT_EQ(gradients.due(), (std::vector<PendingGroup>{tp, copies, shards}));
  gradients.settle(copies);
  EXPECT_EQ(gradients.due(), (std::vector<PendingGroup>{tp, shards}));
  EXPECT_THROW(gradients.settle(copies), ContractError);
}

}  // namespace
}  // namespace tpc
