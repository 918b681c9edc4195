// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/gradient_norm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/comm/local/local.hpp"
#include "reference/model/stage.hpp"
#include "reference/optimizer/clipping.hpp"
#include "reference/parameters/test_support.hpp"

namespace tpc {
namespace {

using test::local_gradients;
using test::tested_config;

constexpr double infinity = std::numeric_limits<double>::infinity();

double dense_norm(const std::vector<ParameterSpec>& specs, double p) {
  double sum = 0;
  double largest = 0;
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      for (std::int64_t i = 0; i < element_count(part.placement.global_shape); ++i) {
        const double g = std::abs(test::canonical_value("gradient", part.canonical, i));
        sum += std::pow(g, p);
        largest = std::max(largest, g);
      }
  return std::isinf(p) ? largest : std::pow(sum, 1 / p);
}

// What padding holds must not matter.
void spoil_padding(const ModelConfig& config, const ParameterSpec& table, const Gradients& gradients) {
  const auto& blocks = table.parts.front().placement.blocks;
  const std::int64_t valid = blocks.empty() ? 0 : blocks.front().extent[0];
  const Tensor padding = gradients.at(table.name).rows(valid, table.shape[0] - valid);
  for (std::int64_t i = 0; i < padding.count(); ++i) padding.data<double>()[i] = 1e9;
  ASSERT_EQ(table.shape[1], config.hidden);
}

struct NormCase {
  std::int64_t kv_heads;
  int ranks;
  SequenceParallel sp;
  bool fused;
};

void expect_dense_norms(const NormCase& c) {
  ModelConfig config = tested_config();
  config.kv_heads = c.kv_heads;
  on_local_ranks(c.ranks, [&](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{c.ranks}, {"tp"}}, *compute);
    const Sharding sharding{.sequence_parallel = c.sp, .fused = c.fused, .padded_vocab = 48};
    const std::vector<ParameterSpec> specs =
        transformer({config, sharding, ctx.position(), ctx.parts()}).parameters();
    const Gradients gradients = local_gradients(*compute, specs, "gradient");
    spoil_padding(config, specs.front(), gradients);
    for (const double p : {1.0, 2.0, 3.0, infinity}) {
      const double expected = dense_norm(specs, p);
      EXPECT_NEAR(gradient_norm(ctx, gradients, p), expected, 1e-13 * expected)
          << "p " << p << ", " << c.kv_heads << " kv heads over " << c.ranks;
    }
    if (c.ranks == 1) return;
    EXPECT_EQ(ctx.trace().size(), 4U);
    EXPECT_EQ(ctx.trace().front().phase, Phase::step);
    EXPECT_EQ(ctx.trace().front().operation, "gradient_norm");
  });
}

TEST(GradientNorm, CountsEveryParameterOnce) {
  for (const int ranks : {1, 2, 3, 4, 6, 8})
    for (const std::int64_t kv_heads : {24, 2, 1}) {
      if (kv_heads % ranks != 0 && ranks % kv_heads != 0) continue;
      expect_dense_norms({kv_heads, ranks, SequenceParallel::off, true});
      expect_dense_norms({kv_heads, ranks, SequenceParallel::kept, false});
    }
}

TEST(GradientNorm, ByHand) {
  on_local_ranks(2, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{2}, {"tp"}}, *compute);
    const std::vector<ParameterSpec> specs = {
        {"sharded", {1}, {{"sharded", shard({2}, 0, world->rank(), 2), {}}}},
        {"replicated", {1}, {{"replicated", replicate({1}), {Axis::tp}}}}};
    Gradients gradients(specs);
    gradients.settle_all();
    for (const char* name : {"sharded", "replicated"}) {
      const Tensor g = compute->allocate(DType::f32, {1}, "g");
      compute->fill(g, std::string(name) == "sharded" ? -2 - world->rank() : 6);
      gradients.add(*compute, name, g);
    }
    EXPECT_EQ(gradient_norm(ctx, gradients, 1), 11);
    EXPECT_EQ(gradient_norm(ctx, gradients), 7);  // 4 + 9 + 36
    EXPECT_EQ(gradient_norm(ctx, gradients, infinity), 6);
    EXPECT_NEAR(gradient_norm(ctx, gradients, 3), std::cbrt(8.0 + 27 + 216), 1e-14);
    EXPECT_THROW(gradient_norm(ctx, gradients, 0.5), ContractError);
  });
}

TEST(GradientNorm, CopiesOfAKvHeadCountOnTheFirst) {
  const ParameterPart part{"k.weight", shard({4, 3}, 0, 0, 2), {Axis::kv_copies}, 3};
  for (int rank = 0; rank < 6; ++rank)
    EXPECT_EQ(right_parts()->counts_in_norm(Position::on_tp(rank, 6), part), rank % 3 == 0) << rank;
  const ParameterPart only_head{"k.weight", replicate({4, 3}), {Axis::kv_copies}, 4};
  for (int rank = 0; rank < 4; ++rank)
    EXPECT_EQ(right_parts()->counts_in_norm(Position::on_tp(rank, 4), only_head), rank == 0) << rank;
  const ParameterPart nothing{"embedding.weight", padded_rows({4, 3}, 0, 6, 2), {}};
  EXPECT_FALSE(right_parts()->counts_in_norm(Position::on_tp(3, 4), nothing));
}

TEST(GradientNorm, NanAndInfinityReachEveryRank) {
  for (const double p : {1.0, 2.0, 3.0, infinity})
    for (const double bad : {std::nan(""), infinity})
      on_local_ranks(3, [&](const CommunicatorPtr& world) {
        const auto compute = make_host_compute();
        Context ctx(world, {{3}, {"tp"}}, *compute);
        const std::vector<ParameterSpec> specs = {{"w", {2}, {{"w", shard({6}, 0, world->rank(), 3), {}}}}};
        const Tensor g = compute->allocate(DType::f64, {2}, "g");
        compute->fill(g, 1);
        if (world->rank() == 1) g.data<double>()[0] = bad;
        Gradients gradients(specs);
        gradients.add(*compute, "w", g);
        const double norm = gradient_norm(ctx, gradients, p);
        EXPECT_TRUE(std::isnan(bad) ? std::isnan(norm) : std::isinf(norm)) << p << ": " << norm;
      });
}

TEST(GradientNorm, EmptyIsZero) {
  on_local_ranks(2, [](const CommunicatorPtr& world) {
    const auto compute = make_host_compute();
    Context ctx(world, {{2}, {"tp"}}, *compute);
    EXPECT_EQ(gradient_norm(ctx, Gradients({})), 0);
  });
}

TEST(Clipping, ScalesToTheLimitOrNotAtAll) {
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_EQ(clip_factor(0, 1), 1);
  EXPECT_DOUBLE_EQ(clip_factor(4, 1), 1 / (4 + 1e-6));
  EXPECT_EQ(clip_factor(infinity, 1), 0);
  EXPECT_TRUE(std::isnan(clip_factor(std::nan(""), 1)));
  EXPECT_THROW(clip_factor(1, 0), UsageError);
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const auto compute = make_host_compute();
    const Tensor g = compute->allocate(dtype, {3}, "g");
    compute->fill(g, 3);
    Gradients gradients({ParameterSpec{"g"}});
    gradients.add(*compute, "g", g);
    EXPECT_EQ(clip_gradients(*compute, gradients, 5, 10), 1);
    const Tensor wide = host_tensor(DType::f64, {3});
    compute->copy(wide, g);
    EXPECT_EQ(wide.data<double>()[2], 3);
    EXPECT_DOUBLE_EQ(clip_gradients(*compute, gradients, 5, 2.5), 2.5 / (5 + 1e-6));
    compute->copy(wide, g);
    EXPECT_NEAR(wide.data<double>()[2], 1.5, dtype == DType::f64 ? 1e-6 : 0.01);
  }
}

}  // namespace
}  // namespace tpc
