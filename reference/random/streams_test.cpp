// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "reference/comm/local/local.hpp"
#include "reference/random/random_streams.hpp"
#include "reference/random/stream_tracker.hpp"

namespace tpc {
namespace {

std::uint64_t seed_of(const RandomStreams& streams, const std::string& name) {
  for (const Stream& stream : streams.state())
    if (stream.name == name) return stream.seed;
  ADD_FAILURE() << "no stream " << name;
  return 0;
}

DrawLayout by_tp(const Shape& shape, int dim, int rank, int ranks) {
  return cut_layout(shape, {{Axis::tp, dim, rank, ranks}});
}

TEST(Profiles, UnknownNameListsThem) {
  try {
    make_random_streams("nanotron", {});
    FAIL() << "an unknown profile was made";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no random profile 'nanotron': there are invariant, megatron, dtensor");
  }
  for (const std::string_view profile : random_profiles())
    EXPECT_EQ(make_random_streams(profile, {})->profile(), profile);
}

TEST(DrawLayout, CutsAsTorchChunkDoes) {
  const DrawLayout third = by_tp({10, 4}, 0, 3, 4);
  EXPECT_EQ(third.local, (Shape{1, 4}));
  EXPECT_EQ(third.first_shard, (Shape{3, 4}));
  EXPECT_EQ(third.placement.blocks.front(), (Block{{9, 0}, {1, 4}, {0, 0}}));
  const DrawLayout empty = by_tp({5}, 0, 3, 4);
  EXPECT_EQ(empty.local, Shape{0});
  EXPECT_TRUE(empty.placement.blocks.empty());
  EXPECT_TRUE(is_sharded_over(by_tp({5}, 0, 0, 1), Axis::tp));
  EXPECT_FALSE(is_sharded_over(whole_layout({5}), Axis::tp));
}

TEST(DrawLayout, NumbersShardsRowMajor) {
  // (2, 3) over (dp_shard, tp): first both on dim 0, then tp on the earlier dim.
  EXPECT_EQ(shard_index(cut_layout({12, 6}, {{Axis::dp_shard, 0, 1, 2}, {Axis::tp, 0, 2, 3}})), 5);
  EXPECT_EQ(shard_index(cut_layout({12, 6}, {{Axis::dp_shard, 1, 1, 2}, {Axis::tp, 0, 2, 3}})), 5);
  EXPECT_EQ(shard_index(cut_layout({12, 6}, {{Axis::dp_shard, 1, 1, 2}, {Axis::tp, 0, 1, 3}})), 3);
  EXPECT_EQ(shard_index(whole_layout({12, 6})), 0);
}

TEST(StreamTracker, RefusesARepeatedNameOrSeed) {
  StreamTracker tracker(7);
  tracker.add("shared", 7);
  tracker.add("own", 8);
  EXPECT_THROW(tracker.add("own", 9), UsageError);
  EXPECT_THROW(tracker.add("other", 8), UsageError);
  EXPECT_EQ(tracker.state().size(), 3U);
}

TEST(StreamTracker, ForkSwapsTheStreamInAndPutsItBack) {
  StreamTracker tracker(7);
  tracker.add("own", 8);
  tracker.add("third", 9);
  tracker.draw(5);
  {
    const StreamTracker::Fork fork(tracker, "own");
    EXPECT_EQ(tracker.draw(3).seed, 8U);
    EXPECT_EQ(tracker.draw(1).position, 3U);
    {
      const StreamTracker::Fork inner(tracker, "third");
      EXPECT_EQ(tracker.draw(2).seed, 9U);
    }
    EXPECT_EQ(tracker.draw(1).position, 4U);
    EXPECT_THROW(StreamTracker::Fork(tracker, "own"), ContractError);
    EXPECT_THROW(tracker.state(), ContractError);
  }
  EXPECT_EQ(tracker.state(), (StreamState{{"default", 7, 5}, {"own", 8, 5}, {"third", 9, 2}}));
  EXPECT_THROW(StreamTracker::Fork(tracker, "nobody's"), ContractError);
}

TEST(Megatron, SeedsAreThoseOfTheTable) {
  on_local_ranks(8, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{2, 2, 2}, {"pp", "dp", "tp"}});
    const auto rank = static_cast<std::uint64_t>(world->rank());
    const std::uint64_t pp = rank / 4;
    const std::uint64_t dp = rank / 2 % 2;
    const std::uint64_t tp = rank % 2;
    for (const bool by_dp : {false, true}) {
      const auto streams = make_random_streams("megatron", stream_setup(1234, mesh, by_dp));
      const std::uint64_t s = 1234 + 100 * pp + (by_dp ? 10 * dp : 0);
      EXPECT_EQ(streams->state(), (StreamState{{"default", s, 0},
                                               {"data-parallel-rng", s, 0},
                                               {"model-parallel-rng", s + 2718 + tp, 0},
                                               {"expert-parallel-rng", s + 1024 + tp, 0}}));
    }
  });
}

TEST(Megatron, DataParallelRankIsThatOfAllItsAxes) {
  on_local_ranks(6, [](const CommunicatorPtr& world) {
    const DeviceMesh mesh(world, {{2, 3, 1}, {"dp_replicate", "dp_shard", "tp"}});
    EXPECT_EQ(stream_setup(1, mesh).dp, world->rank());
    EXPECT_EQ(stream_setup(1, mesh).pp, 0);
  });
}

TEST(Megatron, WantsAPositiveSeed) {
  EXPECT_THROW(make_random_streams("megatron", {.seed = 0}), UsageError);
  EXPECT_NO_THROW(make_random_streams("invariant", {.seed = 0}));
}

TEST(Megatron, SitesDrawFromTheStreamOfTheirLayout) {
  const auto streams = make_random_streams("megatron", {.seed = 100, .tp = 1});
  const std::uint64_t own = 100 + 2718 + 1;
  const MaskSite hidden{"blocks.0", DropoutSite::mlp_output};
  const MaskSite embedding{"embedding", DropoutSite::embedding};
  const MaskSite attention{"blocks.0", DropoutSite::attention_probabilities};
  EXPECT_EQ(streams->for_mask(hidden, whole_layout({4, 2, 3})).key, 100U);
  EXPECT_EQ(streams->for_mask(hidden, by_tp({4, 2, 3}, 0, 1, 2)).key, own);
  EXPECT_EQ(streams->for_mask(embedding, whole_layout({4, 2, 3})).key, 100U);
  EXPECT_EQ(streams->for_mask(embedding, by_tp({4, 2, 3}, 0, 1, 2)).key, own);
  EXPECT_EQ(streams->for_mask(attention, by_tp({2, 4, 5, 5}, 1, 1, 2)).key, own);
  EXPECT_EQ(streams->for_weights("q.weight", by_tp({8, 4}, 0, 1, 2)).key, own);
  EXPECT_EQ(streams->for_weights("positions.weight", whole_layout({8, 4})).key, 100U);
  const StreamState expected = {{"default", 100, 24 + 24 + 32},
                                {"data-parallel-rng", 100, 0},
                                {"model-parallel-rng", own, 12 + 12 + 100 + 16},
                                {"expert-parallel-rng", 100 + 1024 + 1, 0}};
  EXPECT_EQ(streams->state(), expected);
}

TEST(DTensor, OffsetsByHand) {
  const auto at = [](const DrawLayout& layout) {
    const auto streams = make_random_streams("dtensor", {.seed = 5});
    streams->for_mask({}, whole_layout({3}));  // leaves the offset at 4
    const CounterRule rule = streams->for_mask({}, layout);
    EXPECT_EQ(rule.key, 5U);
    return std::pair(rule.first, streams->state().front().position);
  };
  using Offsets = std::pair<std::uint64_t, std::uint64_t>;
  // [8,16] over (Shard(1), Replicate, Shard(0)), 2 ranks each: rank 5 is shard (1, 1) of four [4,8].
  EXPECT_EQ(at(cut_layout({8, 16}, {{Axis::dp_replicate, 1, 1, 2}, {Axis::tp, 0, 1, 2}})),
            Offsets(4 + 3 * 32, 4 + 128));
  EXPECT_EQ(at(cut_layout({8, 16}, {{Axis::dp_replicate, 1, 0, 2}, {Axis::tp, 0, 1, 2}})),
            Offsets(4 + 2 * 32, 4 + 128));
  // 10 rows of 3 over 4: shards of 9, 9, 9, 3 numbers; 2·9 rounds up to 20, 3·9 to 28, 30 to 32.
  EXPECT_EQ(at(by_tp({10, 3}, 0, 0, 4)), Offsets(4, 36));
  EXPECT_EQ(at(by_tp({10, 3}, 0, 2, 4)), Offsets(24, 36));
  EXPECT_EQ(at(by_tp({10, 3}, 0, 3, 4)), Offsets(32, 36));
  // Two axes on one dim: 16 rows over 2 x 4 are shards of 2.
  EXPECT_EQ(at(cut_layout({16}, {{Axis::dp_shard, 0, 1, 2}, {Axis::tp, 0, 3, 4}})), Offsets(4 + 16, 20));
  // A rank that holds nothing moves on with the others.
  EXPECT_EQ(at(by_tp({5}, 0, 3, 4)), Offsets(4 + 8, 12));
}

TEST(DTensor, OneSeedPerMeshAnotherPerStage) {
  const auto seed = [](const StreamSetup& setup) {
    return seed_of(*make_random_streams("dtensor", setup), "parallel-rng");
  };
  EXPECT_EQ(seed({.seed = 5, .dp = 1, .tp = 3}), 5U);
  EXPECT_NE(seed({.seed = 5, .pp = 1}), 5U);
}

TEST(Invariant, NumbersDependOnSeedSiteStepAndMicrobatchAlone) {
  const auto rule = [](std::uint64_t seed, const MaskSite& site, const DrawLayout& layout) {
    const CounterRule r = make_random_streams("invariant", {.seed = seed})->for_mask(site, layout);
    EXPECT_EQ(r.index, CounterRule::Index::global);
    return std::array{r.key, r.stream, r.first};
  };
  const MaskSite site{"blocks.0", DropoutSite::mlp_output, 3, 4};
  const auto reference = rule(1, site, whole_layout({8}));
  EXPECT_EQ(rule(1, site, by_tp({8}, 0, 1, 2)), reference);
  const MaskSite others[] = {{"blocks.1", DropoutSite::mlp_output, 3, 4},
                             {"blocks.0", DropoutSite::attention_output, 3, 4},
                             {"blocks.0", DropoutSite::mlp_output, 4, 3},
                             {"blocks.0", DropoutSite::mlp_output, 3, 5}};
  for (const MaskSite& other : others) EXPECT_NE(rule(1, other, whole_layout({8})), reference);
  EXPECT_NE(rule(2, site, whole_layout({8})), reference);
  const auto streams = make_random_streams("invariant", {});
  EXPECT_NE(streams->for_weights("blocks.0.q.weight", whole_layout({8})).key,
            streams->for_weights("blocks.1.q.weight", whole_layout({8})).key);
}

// The numbers of a few draws, as (key, stream, first).
std::vector<std::array<std::uint64_t, 3>> draws(RandomStreams& streams, int from, int to) {
  std::vector<std::array<std::uint64_t, 3>> rules;
  for (int step = from; step < to; ++step) {
    for (const DrawLayout& layout : {whole_layout({3, 5}), by_tp({8, 5}, 0, 1, 2)}) {
      const CounterRule rule = streams.for_mask({"a", DropoutSite::mlp_output, step, 0}, layout);
      rules.push_back({rule.key, rule.stream, rule.first});
    }
  }
  return rules;
}

TEST(State, ResumedRunDrawsWhatAnUninterruptedOneDoes) {
  for (const std::string_view profile : random_profiles()) {
    const StreamSetup setup{.seed = 3, .tp = 1};
    const auto whole = make_random_streams(profile, setup);
    draws(*whole, 0, 2);
    const StreamState saved = whole->state();
    const auto expected = draws(*whole, 2, 5);
    const auto resumed = make_random_streams(profile, {.seed = 77});
    resumed->restore(saved);
    EXPECT_EQ(draws(*resumed, 2, 5), expected) << profile;
    EXPECT_EQ(resumed->state(), whole->state()) << profile;
    EXPECT_THROW(resumed->restore({}), ContractError);
  }
}

TEST(State, ReplayRepeatsAndLeavesNoTrace) {
  for (const std::string_view profile : random_profiles()) {
    const auto streams = make_random_streams(profile, {});
    const StreamState before = streams->state();
    const auto first = draws(*streams, 0, 2);
    draws(*streams, 2, 5);
    const StreamState after = streams->state();
    {
      const ReplayScope replay(*streams, before);
      EXPECT_EQ(draws(*streams, 0, 2), first) << profile;
    }
    EXPECT_EQ(streams->state(), after) << profile;
  }
}

TEST(State, ClonesGoTheirOwnWay) {
  for (const std::string_view profile : random_profiles()) {
    const auto streams = make_random_streams(profile, {});
    const auto clone = streams->clone();
    const auto first = draws(*streams, 0, 3);
    EXPECT_EQ(draws(*clone, 0, 3), first) << profile;
  }
}

}  // namespace
}  // namespace tpc
