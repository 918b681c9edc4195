// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/masks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/judge/inputs/init_rule.hpp"
#include "harness/judge/judges/stream_seeds.hpp"
#include "reference/comm/local/local.hpp"
#include "reference/model/initialisation.hpp"
#include "reference/random/draws.hpp"

namespace tpc {
namespace {

Problem problem_with_dropout(Operation operation) {
  Problem problem;
  problem.asked = operation;
  problem.model.layers = 2;
  problem.model.hidden = 6;
  problem.model.heads = problem.model.kv_heads = 2;
  problem.model.head_dim = 3;
  problem.model.ffn = 10;
  problem.model.vocab = 7;
  problem.model.positions = 5;
  problem.model.dropout = {0.25, 0.5, 0.125};
  problem.batch = 3;
  problem.sequence = 4;
  problem.seed = 77;
  return problem;
}

std::vector<std::string> mask_names(const Problem& problem) {
  std::vector<std::string> names;
  for (const MaskSpec& mask : masks_of(problem)) names.push_back(mask.name);
  return names;
}

TEST(Masks, AreNamedByLayerAndSite) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(mask_names(problem_with_dropout(Operation::attention)), Names{"mask.attention_probabilities"});
  EXPECT_EQ(mask_names(problem_with_dropout(Operation::vocab_embedding)), Names{"mask.embedding"});
  EXPECT_EQ(mask_names(problem_with_dropout(Operation::transformer_layer)),
            (Names{"attention.mask.attention_probabilities", "attention.mask.attention_output",
                   "mlp.mask.mlp_output"}));
  for (const Operation operation : {Operation::model, Operation::dropout, Operation::train}) {
    const Names names = mask_names(problem_with_dropout(operation));
    ASSERT_EQ(names.size(), 7U);
    EXPECT_EQ(names.front(), "embedding.mask.embedding");
    EXPECT_EQ(names[4], "blocks.1.attention.mask.attention_probabilities");
    EXPECT_TRUE(std::all_of(names.begin(), names.end(), is_mask));
  }
  EXPECT_TRUE(mask_names(problem_with_dropout(Operation::mlp)).empty());
  EXPECT_FALSE(is_mask("grad.blocks.0.attention.q.weight"));
}

TEST(Masks, AreThereWhereSomethingIsDropped) {
  Problem problem = problem_with_dropout(Operation::model);
  problem.model.dropout.hidden = 0;
  EXPECT_EQ(masks_of(problem).size(), 3U);
  EXPECT_EQ(masks_of(problem)[1].shape, (Shape{3, 2, 4, 4}));
  EXPECT_TRUE(masks_of(problem)[1].by_heads);
  problem.random.training = false;
  EXPECT_TRUE(masks_of(problem).empty());
  EXPECT_FALSE(depends_on_drawn_masks(problem));
  problem.random = {"megatron", true, false};
  EXPECT_TRUE(depends_on_drawn_masks(problem));
  problem.random.profile = "invariant";
  EXPECT_FALSE(depends_on_drawn_masks(problem));
}

// Two ways to the rule: written down here, and in the streams.
TEST(InvariantMask, IsWhatTheStreamsDraw) {
  const Problem problem = problem_with_dropout(Operation::model);
  const auto compute = make_host_compute();
  const auto streams = make_random_streams("invariant", {.seed = problem.seed});
  const DropoutSite sites[] = {DropoutSite::embedding, DropoutSite::attention_probabilities,
                               DropoutSite::attention_output, DropoutSite::mlp_output};
  for (const MaskSpec& mask : masks_of(problem))
    for (const std::int64_t step : {0, 3}) {
      const auto* site = std::find_if(std::begin(sites), std::end(sites),
                                      [&](DropoutSite candidate) { return name(candidate) == mask.site; });
      ASSERT_NE(site, std::end(sites));
      const Tensor drawn =
          draw_mask(*compute, *streams, {mask.layer, *site, step, 0}, whole_layout(mask.shape), mask.rate);
      const std::vector<double> rule = invariant_mask(problem.seed, mask, step);
      for (std::size_t i = 0; i < rule.size(); ++i)
        ASSERT_EQ(drawn.data<std::uint8_t>()[i], rule[i]) << mask.name << " at " << i;
    }
}

TEST(InvariantMask, DependsOnSeedLayerSiteAndStep) {
  const MaskSpec mask{"a.mask.b", "a", "b", {64}, 0.5};
  const std::vector<double> once = invariant_mask(1, mask, 0);
  EXPECT_EQ(once, invariant_mask(1, mask, 0));
  EXPECT_NE(once, invariant_mask(2, mask, 0));
  EXPECT_NE(once, invariant_mask(1, mask, 1));
  EXPECT_NE(once, invariant_mask(1, {"", "a", "c", {64}, 0.5}, 0));
  EXPECT_NE(once, invariant_mask(1, {"", "c", "b", {64}, 0.5}, 0));
}

TEST(InitRule, IsWhatTheReferenceDraws) {
  for (const bool by_fan : {false, true}) {
    Problem problem = problem_with_dropout(Operation::init);
    problem.init.inverse_root_fan_in = by_fan;
    const auto rules = initialisation_rules(
        Operation::model, problem.model,
        {by_fan ? WeightScale::inverse_root_fan_in : WeightScale::fixed, problem.init.std});
    const std::vector<InitSpec> specs = init_specs(problem);
    ASSERT_EQ(specs.size(), rules.size());
    const auto streams = make_random_streams("invariant", {.seed = problem.seed});
    for (const InitSpec& spec : specs) {
      const auto rule = std::find_if(rules.begin(), rules.end(),
                                     [&](const InitRule& r) { return r.parameter == spec.parameter; });
      ASSERT_NE(rule, rules.end()) << spec.parameter;
      EXPECT_EQ(rule->std, spec.std) << spec.parameter;
      EXPECT_EQ(rule->mean, spec.mean) << spec.parameter;
      if (spec.std == 0) continue;
      const Tensor drawn = host_tensor(DType::f64, spec.shape);
      draw_normal(*streams, spec.parameter, whole_layout(spec.shape), {spec.mean, spec.std}, drawn);
      const std::vector<double> values = invariant_weights(problem, spec);
      for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(drawn.data<double>()[i], values[i]);
    }
  }
}

// The table of Megatron-LM for pipeline 2 x data parallel 2 x tensor parallel 2, in full, by hand.
TEST(StreamSeeds, OfEightRanksByHand) {
  const MeshSpec mesh{{2, 2, 2}, {"pp", "dp", "tp"}};
  Problem problem;
  problem.seed = 1234;
  problem.random.profile = "megatron";
  const std::uint64_t shared[] = {1234, 1234, 1234, 1234, 1334, 1334, 1334, 1334};
  const std::uint64_t own[] = {3952, 3953, 3952, 3953, 4052, 4053, 4052, 4053};
  const std::uint64_t expert[] = {2258, 2259, 2258, 2259, 2358, 2359, 2358, 2359};
  for (int rank = 0; rank < 8; ++rank) {
    const auto seeds = stream_seeds(problem, mesh, rank);
    ASSERT_TRUE(seeds);
    EXPECT_EQ((*seeds)[0].seed, shared[rank]) << rank;
    EXPECT_EQ((*seeds)[1].seed, shared[rank]) << rank;
    EXPECT_EQ((*seeds)[2].seed, own[rank]) << rank;
    EXPECT_EQ((*seeds)[3].seed, expert[rank]) << rank;
  }
  problem.random.seed_by_data_parallel_rank = true;
  EXPECT_EQ((*stream_seeds(problem, mesh, 7))[2].seed, 1234U + 100 + 10 + 2718 + 1);
}

TEST(StreamSeeds, AreThoseOfTheStreams) {
  const MeshSpec mesh{{2, 2, 2}, {"pp", "dp", "tp"}};
  on_local_ranks(8, [&](const CommunicatorPtr& world) {
    const DeviceMesh device_mesh(world, mesh);
    for (const std::string_view profile : random_profiles())
      for (const bool flag : {false, true}) {
        Problem problem;
        problem.seed = 99;
        problem.random = {std::string(profile), true, flag};
        const auto table = stream_seeds(problem, mesh, world->rank());
        const StreamState state = make_random_streams(profile, stream_setup(99, device_mesh, flag))->state();
        ASSERT_TRUE(table && table->size() == state.size());
        for (std::size_t i = 0; i < state.size(); ++i) {
          EXPECT_EQ((*table)[i].stream, state[i].name);
          EXPECT_EQ((*table)[i].seed, state[i].seed) << profile << " " << state[i].name;
        }
      }
  });
}

}  // namespace
}  // namespace tpc
