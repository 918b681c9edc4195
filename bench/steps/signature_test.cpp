// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/signature.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "reference/comm/local/local.hpp"

namespace tpc::bench {
namespace {

StackShape small(DType dtype, SequenceParallel sp, std::int64_t layers = 2) {
  StackShape shape;
  shape.model.layers = layers;
  shape.model.hidden = 24;
  shape.model.heads = 6;
  shape.model.kv_heads = 2;
  shape.model.head_dim = 4;
  shape.model.ffn = 48;
  shape.model.vocab = 32;
  shape.model.positions = 12;
  shape.batch = 2;
  shape.sequence = 12;
  shape.dtype = dtype;
  shape.form = {sp};
  return shape;
}

Signatures step_signatures(const StackShape& shape, const CommunicatorPtr& ranks) {
  const auto compute = make_host_compute();
  LayerStack stack(shape, ranks, *compute);
  stack.forward(0);
  stack.backward(0);
  stack.finalise();
  return signatures_of(*ranks, stack.outputs());
}

TEST(Signature, EveryShardingAgreesWithTheBaseline) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16})
    for (const auto sp : {SequenceParallel::off, SequenceParallel::kept, SequenceParallel::regathered}) {
      const StackShape shape = small(dtype, sp);
      const Signatures baseline = baseline_signatures(shape, 0);
      for (const int size : {1, 2, 6})  // 6 ranks hold copies of the kv heads
        on_local_ranks(size, [&](const CommunicatorPtr& ranks) {
          EXPECT_EQ(difference(step_signatures(shape, ranks), baseline, signature_tolerance(shape)), "")
              << name(dtype) << " on " << size;
        });
    }
}

TEST(Signature, ASmallErrorAnywhereShows) {
  const StackShape shape = small(DType::f32, SequenceParallel::off);
  const Signatures baseline = baseline_signatures(shape, 0);
  const auto compute = make_host_compute();
  const auto self = make_single_communicator();
  LayerStack stack(shape, self, *compute);
  stack.forward(0);
  stack.backward(0);
  stack.finalise();
  for (const PlacedTensor& tensor : stack.outputs()) {
    auto* element = tensor.local.data<float>() + tensor.placement.blocks.front().local_offset.front();
    const float right = *element;
    *element = right + 100;
    EXPECT_NE(difference(signatures_of(*self, stack.outputs()), baseline, signature_tolerance(shape)), "")
        << tensor.name;
    *element = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(difference(signatures_of(*self, stack.outputs()), baseline, signature_tolerance(shape)), "");
    *element = right;
  }
}

TEST(Signature, AnotherSlotIsAnotherAnswer) {
  const StackShape shape = small(DType::f32, SequenceParallel::off, 1);
  EXPECT_NE(difference(baseline_signatures(shape, 1), baseline_signatures(shape, 0), 0.1), "");
}

TEST(Signature, IsShared) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    Signatures signatures;
    if (ranks->rank() == 0) signatures = {{"y", {{1, 2, 3, 4}, 5}}, {"blocks.0.x", {{6, 7, 8, 9}, 10}}};
    share(*ranks, signatures, 0);
    ASSERT_EQ(signatures.size(), 2U);
    EXPECT_EQ(signatures.at("blocks.0.x").projections[3], 9);
    EXPECT_EQ(signatures.at("y").norm, 5);
  });
}

TEST(LayerStack, IsRefusedWhereItCannotBeSplit) {
  on_local_ranks(4, [](const CommunicatorPtr& ranks) {
    const auto compute = make_host_compute();
    EXPECT_THROW(LayerStack(small(DType::f32, SequenceParallel::off), ranks, *compute), Refusal);
  });
}

}  // namespace
}  // namespace tpc::bench
