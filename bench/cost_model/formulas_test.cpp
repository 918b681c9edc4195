// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/formulas.hpp"

#include <gtest/gtest.h>

#include "reference/core/contract.hpp"

namespace tpc::bench {
namespace {

constexpr double mib = 1024.0 * 1024.0;

TEST(Activations, OneLayerOfThe22BModel) {
  const TransformerShape shape{4, 2048, 6144, 64, 48, 0};
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::none, shape, 8) / mib, 6752);
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::tensor_parallel, shape, 8) / mib, 1264);
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::sequence_parallel_kept, shape, 8) / mib, 1012);
}

TEST(Activations, OnOneRankAllButRecomputationKeepsTheSame) {
  const TransformerShape shape{2, 128, 256, 4, 1, 0};
  const double whole = activation_bytes(ActivationScheme::none, shape, 1);
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::tensor_parallel, shape, 1), whole);
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::sequence_parallel, shape, 1), whole);
  EXPECT_DOUBLE_EQ(activation_bytes(ActivationScheme::sequence_parallel_kept, shape, 1), whole);
  EXPECT_LT(activation_bytes(ActivationScheme::selective, shape, 1), whole);
}

TEST(Activations, InterleavedChunksKeepMoreOnTheFirstStage) {
  EXPECT_DOUBLE_EQ(first_stage_factor(8, 1), 1);
  EXPECT_DOUBLE_EQ(first_stage_factor(8, 3), 1 + 7.0 / 24);
  EXPECT_THROW(activation_scheme_named("all"), UsageError);
}

TEST(Flops, AreThreeForwardPasses) {
  // b = s = h = L = 1 without a vocabulary: 24 for the products with weights, 4 for scores and context.
  EXPECT_DOUBLE_EQ(model_flops({1, 1, 1, 1, 1, 0}), 3 * (24 + 4));
  EXPECT_DOUBLE_EQ(model_flops({1, 1, 1, 1, 1, 1}), 3 * (24 + 4 + 2));
  EXPECT_DOUBLE_EQ(hardware_flops({1, 1, 1, 1, 1, 0}, Recompute::full), 4 * (24 + 4));
  EXPECT_DOUBLE_EQ(hardware_flops({1, 1, 1, 1, 1, 1}, Recompute::full), 4 * (24 + 4) + 3 * 2);
  EXPECT_DOUBLE_EQ(hardware_flops({1, 1, 1, 1, 1, 0}, Recompute::selective), 3 * (24 + 8));
}

TEST(Overlap, ByBothDefinitions) {
  EXPECT_DOUBLE_EQ(overlap_of_benchmarks(1, 2, 3), 0);
  EXPECT_DOUBLE_EQ(overlap_of_benchmarks(1, 2, 2), 1);
  EXPECT_DOUBLE_EQ(overlap_of_benchmarks(1, 2, 2.5), 0.5);
  EXPECT_DOUBLE_EQ(overlap_of_benchmarks(1, 2, 9), 0);
  EXPECT_DOUBLE_EQ(overlap_efficiency(3, 2, 2, 2), 1);
  EXPECT_DOUBLE_EQ(overlap_efficiency(3, 3, 2, 2), 0);
  EXPECT_DOUBLE_EQ(overlap_efficiency(3, 4, 2, 2), -1);
}

}  // namespace
}  // namespace tpc::bench
