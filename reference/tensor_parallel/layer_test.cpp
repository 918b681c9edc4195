// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/layer.hpp"

#include <gtest/gtest.h>

#include "reference/comm/local/local.hpp"
#include "reference/tensor_parallel/attention.hpp"
#include "reference/tensor_parallel/gradient_finalisation.hpp"
#include "reference/tensor_parallel/requirements.hpp"

namespace tpc {
namespace {

Tensor filled(Compute& compute, Shape shape, double value) {
  Tensor t = compute.allocate(DType::f64, std::move(shape), "filled");
  compute.fill(t, value);
  return t;
}

TEST(Saved, CountsSharedElementsOnce) {
  const auto compute = make_host_compute();
  const Tensor x = filled(*compute, {4}, 1);
  Saved inner;
  inner.keep("x", x);
  inner.keep("y", filled(*compute, {2}, 2));
  Saved outer;
  outer.keep("x", x);
  outer.keep("mlp", std::move(inner));
  EXPECT_EQ(outer.bytes(), 6 * sizeof(double));
  ASSERT_EQ(outer.entries().size(), 3U);
  EXPECT_EQ(outer.entries()[1].name, "mlp.x");
  EXPECT_THROW(outer.keep("x", x), ContractError);
  EXPECT_THROW(outer.tensor("z"), ContractError);
  Saved taken = outer.take("mlp");
  EXPECT_EQ(taken.tensor("y").data<double>()[1], 2);
  EXPECT_THROW(outer.take("mlp"), ContractError);
}

TEST(HeadSlice, SharesKvHeadsAmongNeighbours) {
  ModelConfig config;
  config.heads = 12;
  config.kv_heads = 3;
  const HeadSlice own = head_slice(config, {2, 3});
  EXPECT_EQ(own.query, 4);
  EXPECT_EQ(own.kv, 1);
  EXPECT_EQ(own.first_kv, 2);
  EXPECT_EQ(own.kv_copies, 1);
  const HeadSlice shared = head_slice(config, {3, 6});
  EXPECT_EQ(shared.query, 2);
  EXPECT_EQ(shared.first_kv, 1);
  EXPECT_EQ(shared.kv_copies, 2);
  EXPECT_THROW(head_slice(config, {0, 2}), ContractError);
}

TEST(ColumnLinears, FusedRowsMapToTheirCanonicalWeights) {
  const Position second = Position::on_tp(1, 2);
  const ColumnLinears linears({even_part("q", 8, second), even_part("k", 4, second)},
                              {.fused_name = "qk", .in_features = 3, .bias = true});
  const std::vector<ParameterSpec> specs = linears.parameters();
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].name, "qk.weight");
  EXPECT_EQ(specs[0].shape, (Shape{6, 3}));
  ASSERT_EQ(specs[0].parts.size(), 2U);
  EXPECT_EQ(specs[0].parts[1].canonical, "k.weight");
  EXPECT_EQ(specs[0].parts[1].placement.blocks[0], (Block{{2, 0}, {2, 3}, {4, 0}}));
  EXPECT_EQ(specs[1].name, "qk.bias");
  EXPECT_EQ(specs[1].parts[1].placement.blocks[0], (Block{{2}, {2}, {4}}));
}

TEST(Finalisation, SumsOnlyWhatIsPending) {
  on_local_ranks(3, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{3}, {"tp"}}, *compute);
    const Placement whole = replicate({2});
    const std::vector<ParameterSpec> specs = {{"gain", {2}, {{"gain", whole, {Axis::tp}}}},
                                              {"bias", {2}, {{"bias", whole, {}}}}};
    Gradients gradients(specs);
    gradients.add(*compute, "gain", filled(*compute, {2}, 1 + world->rank()));
    gradients.add(*compute, "bias", filled(*compute, {2}, 1));
    finalise_gradients(ctx, gradients);
    EXPECT_TRUE(gradients.due().empty());
    EXPECT_EQ(gradients.at("gain").data<double>()[1], 6);
    EXPECT_EQ(gradients.at("bias").data<double>()[1], 1);
    ASSERT_EQ(ctx.trace().size(), 1U);
    EXPECT_EQ(ctx.trace()[0].phase, Phase::finalise);
    EXPECT_EQ(ctx.trace()[0].count, 2);
  });
}

TEST(Requirements, NameBothNumbersAndTheRemedy) {
  ModelConfig config;
  config.heads = config.kv_heads = 12;
  config.hidden = 96;
  config.ffn = 96;
  config.vocab = 96;
  try {
    require_splittable(Operation::attention, config, {}, 16, 8);
    FAIL() << "12 heads over 8 ranks were accepted";
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "number of heads 12 is not divisible by tp 8: choose a tp that divides it");
  }
  EXPECT_NO_THROW(require_splittable(Operation::attention, config, {}, 16, 4));
}

}  // namespace
}  // namespace tpc
