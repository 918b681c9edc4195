// SPDX-License-Identifier: Apache-2.0
#include "reference/random/draws.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/comm/local/local.hpp"
#include "reference/core/philox.hpp"

namespace tpc {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes(const Tensor& mask) {
  return {mask.data<std::uint8_t>(), mask.data<std::uint8_t>() + mask.count()};
}

Bytes mask_of(RandomStreams& streams, const MaskSite& site, const DrawLayout& layout, double p) {
  const auto compute = make_host_compute();
  const Tensor mask = draw_mask(*compute, streams, site, layout, p);
  EXPECT_EQ(mask.shape(), layout.local);
  return bytes(mask);
}

Bytes mask_of(std::string_view profile, const StreamSetup& setup, const MaskSite& site,
              const DrawLayout& layout, double p) {
  const auto streams = make_random_streams(profile, setup);
  return mask_of(*streams, site, layout, p);
}

// Assembles a tensor from the shards of all parts of one dim.
template <class T>
std::vector<T> gathered(const Shape& global, const std::vector<DrawLayout>& layouts,
                        const std::vector<std::vector<T>>& shards) {
  const auto compute = make_host_compute();
  const Tensor whole = host_tensor(dtype_of<T>(), global);
  for (std::size_t r = 0; r < layouts.size(); ++r) {
    const Tensor local = host_tensor(dtype_of<T>(), layouts[r].local);
    std::copy(shards[r].begin(), shards[r].end(), local.data<T>());
    for (const Block& block : layouts[r].placement.blocks)
      compute->copy_block(whole, block.global_offset, local, block.local_offset, block.extent);
  }
  return {whole.data<T>(), whole.data<T>() + whole.count()};
}

const MaskSite hidden_site{"blocks.0", DropoutSite::mlp_output, 1, 2};

TEST(DropBelow, CutsTheNumbersExactly) {
  EXPECT_EQ(drop_below(0), 0U);
  EXPECT_EQ(drop_below(0.5), 0x80000000U);
  EXPECT_EQ(drop_below(0.1), 429496730U);
  EXPECT_EQ(drop_below(1 - 0x1p-32), 0xffffffffU);
  for (const double p : {1.0, 1 - 0x1p-40, 1.5, -0.1, std::nan("")}) EXPECT_THROW(drop_below(p), Refusal);
}

TEST(DrawMask, KeepsWhatIsNotBelowTheThreshold) {
  const auto streams = make_random_streams("megatron", {.seed = 9});
  const Bytes mask = mask_of(*streams, hidden_site, whole_layout({2, 3, 5}), 0.5);
  for (std::size_t i = 0; i < mask.size(); ++i)
    EXPECT_EQ(mask[i], philox(9, i)[0] >= 0x80000000U ? 1 : 0) << i;
}

TEST(DrawMask, DropsExactlyTheNumbersBelow) {
  const double number = uniform(philox(9, 0));
  const auto streams = [] { return make_random_streams("megatron", {.seed = 9}); };
  EXPECT_EQ(mask_of(*streams(), hidden_site, whole_layout({1}), number), Bytes{1});
  EXPECT_EQ(mask_of(*streams(), hidden_site, whole_layout({1}), number + 0x1p-32), Bytes{0});
}

TEST(DrawMask, ZeroKeepsAllAndDrawsNothing) {
  for (const std::string_view profile : random_profiles()) {
    const auto streams = make_random_streams(profile, {});
    const StreamState before = streams->state();
    EXPECT_EQ(mask_of(*streams, hidden_site, whole_layout({3, 5}), 0), Bytes(15, 1));
    EXPECT_EQ(streams->state(), before) << profile;
    EXPECT_THROW(mask_of(*streams, hidden_site, whole_layout({3, 5}), 1), Refusal);
    EXPECT_EQ(streams->state(), before) << profile;
  }
}

TEST(DrawMask, NearOneDropsAlmostAll) {
  const Bytes mask = mask_of("invariant", {}, hidden_site, whole_layout({64, 64}), 1 - 0x1p-30);
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 0);
}

TEST(DrawMask, ServesEmptyAndSingleElementTensors) {
  for (const std::string_view profile : random_profiles()) {
    const auto streams = make_random_streams(profile, {});
    EXPECT_TRUE(mask_of(*streams, hidden_site, cut_layout({5, 2}, {{Axis::tp, 0, 3, 4}}), 0.1).empty());
    EXPECT_EQ(mask_of(*streams, hidden_site, whole_layout({1}), 0.1).size(), 1U);
    EXPECT_TRUE(mask_of(*streams, hidden_site, whole_layout({0, 3}), 0.1).empty());
  }
}

TEST(DrawMask, ShapeOnlyMovesTheStreamsAndCountsTheBytes) {
  const auto streams = make_random_streams("megatron", {});
  const auto compute = make_shape_only_compute();
  const Tensor mask = draw_mask(*compute, *streams, hidden_site, whole_layout({4, 4}), 0.1);
  EXPECT_EQ(compute->live_bytes(), 16U);
  EXPECT_EQ(mask.raw(), nullptr);
  EXPECT_EQ(streams->state().front().position, 16U);
}

TEST(DrawMask, WantsEveryElementPlaced) {
  DrawLayout layout = whole_layout({4, 4});
  layout.placement.blocks.front().extent[0] = 3;
  const auto streams = make_random_streams("invariant", {});
  EXPECT_THROW(mask_of(*streams, hidden_site, layout, 0.1), ContractError);
}

// Rows of a middle dim, as attention probabilities are cut, and of the first, as sequences are.
TEST(Invariant, GatheredMasksEqualTheWholeBitForBit) {
  const Shape global = {24, 24, 5};
  const Bytes whole = mask_of("invariant", {}, hidden_site, whole_layout(global), 0.1);
  EXPECT_NE(std::count(whole.begin(), whole.end(), 0), 0);
  for (const int dim : {0, 1, 2})
    for (const int ranks : {1, 2, 3, 4, 6, 8}) {
      std::vector<DrawLayout> layouts(static_cast<std::size_t>(ranks));
      std::vector<Bytes> shards(layouts.size());
      on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
        const DeviceMesh mesh(world, {{ranks}, {"tp"}});
        const auto r = static_cast<std::size_t>(world->rank());
        layouts[r] = cut_layout(global, {{Axis::tp, dim, world->rank(), ranks}});
        shards[r] = mask_of("invariant", stream_setup(1234, mesh), hidden_site, layouts[r], 0.1);
      });
      EXPECT_EQ(gathered(global, layouts, shards), whole) << "dim " << dim << " over " << ranks;
    }
}

TEST(Invariant, TwoAxesGatherToTheSame) {
  const Shape global = {7, 10};
  std::vector<DrawLayout> layouts;
  std::vector<Bytes> shards;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b) {
      layouts.push_back(cut_layout(global, {{Axis::dp_shard, 0, a, 2}, {Axis::tp, 1, b, 3}}));
      shards.push_back(mask_of("invariant", {.dp = a, .tp = b}, hidden_site, layouts.back(), 0.3));
    }
  EXPECT_EQ(gathered(global, layouts, shards),
            mask_of("invariant", {}, hidden_site, whole_layout(global), 0.3));
}

TEST(Megatron, EqualWhereReplicatedDifferentWhereSharded) {
  const MaskSite attention{"blocks.0", DropoutSite::attention_probabilities};
  const auto by_head = [](int rank) { return cut_layout({2, 4, 16, 16}, {{Axis::tp, 1, rank, 4}}); };
  const auto by_token = [](int rank) { return cut_layout({64, 2, 8}, {{Axis::tp, 0, rank, 4}}); };
  const Bytes shared = mask_of("megatron", {.tp = 0}, hidden_site, whole_layout({64, 2, 8}), 0.5);
  for (int tp = 1; tp < 4; ++tp) {
    EXPECT_EQ(mask_of("megatron", {.tp = tp}, hidden_site, whole_layout({64, 2, 8}), 0.5), shared);
    for (int other = 0; other < tp; ++other) {
      EXPECT_NE(mask_of("megatron", {.tp = tp}, attention, by_head(tp), 0.5),
                mask_of("megatron", {.tp = other}, attention, by_head(other), 0.5));
      EXPECT_NE(mask_of("megatron", {.tp = tp}, hidden_site, by_token(tp), 0.5),
                mask_of("megatron", {.tp = other}, hidden_site, by_token(other), 0.5));
    }
  }
  const StreamSetup other_replica{.dp = 1};
  EXPECT_EQ(mask_of("megatron", other_replica, hidden_site, whole_layout({64, 2, 8}), 0.5), shared);
  const StreamSetup own_seed{.dp = 1, .seed_by_data_parallel_rank = true};
  EXPECT_NE(mask_of("megatron", own_seed, hidden_site, whole_layout({64, 2, 8}), 0.5), shared);
}

TEST(DTensor, ReplicasDrawTheSameShardsDifferent) {
  const auto shard = [](int index) { return cut_layout({16, 32}, {{Axis::tp, 0, index, 4}}); };
  const Bytes first = mask_of("dtensor", {.dp = 0, .tp = 0}, hidden_site, shard(0), 0.5);
  EXPECT_EQ(mask_of("dtensor", {.dp = 1, .tp = 0}, hidden_site, shard(0), 0.5), first);
  EXPECT_NE(mask_of("dtensor", {.dp = 0, .tp = 1}, hidden_site, shard(1), 0.5), first);
  // Rows in order of the offsets: here the shards are what one device draws.
  const Bytes whole = mask_of("dtensor", {}, hidden_site, whole_layout({16, 32}), 0.5);
  EXPECT_EQ(mask_of("dtensor", {}, hidden_site, shard(1), 0.5),
            Bytes(whole.begin() + 128, whole.begin() + 256));
}

TEST(DrawNormal, GatheredWeightsEqualTheWholeBitForBit) {
  const Shape global = {24, 7};
  const auto streams = make_random_streams("invariant", {});
  const auto values = [&](const DrawLayout& layout) {
    const Tensor out = host_tensor(DType::f64, layout.local);
    draw_normal(*streams, "w", layout, {0.5, 2}, out);
    return std::vector<double>(out.data<double>(), out.data<double>() + out.count());
  };
  const std::vector<double> whole = values(whole_layout(global));
  for (const int ranks : {2, 3, 4, 6, 8}) {
    std::vector<DrawLayout> layouts;
    std::vector<std::vector<double>> shards;
    for (int r = 0; r < ranks; ++r) {
      layouts.push_back(cut_layout(global, {{Axis::tp, 0, r, ranks}}));
      shards.push_back(values(layouts.back()));
    }
    EXPECT_EQ(gathered(global, layouts, shards), whole) << ranks;
  }
}

TEST(DrawNormal, RoundsToTheDtypeAndHasItsMoments) {
  const auto streams = make_random_streams("invariant", {});
  const Shape shape = {128, 128};
  const Tensor wide = host_tensor(DType::f64, shape);
  const Tensor single = host_tensor(DType::f32, shape);
  const Tensor half = host_tensor(DType::bf16, shape);
  for (const Tensor& out : {wide, single, half})
    draw_normal(*streams, "w", whole_layout(shape), {1, 0.5}, out);
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < wide.count(); ++i) {
    const double value = wide.data<double>()[i];
    EXPECT_EQ(single.data<float>()[i], static_cast<float>(value));
    EXPECT_EQ(half.data<bf16>()[i].bits, bf16(static_cast<float>(value)).bits);
    sum += value - 1;
    squares += (value - 1) * (value - 1);
  }
  const auto n = static_cast<double>(wide.count());
  EXPECT_LT(std::abs(sum / n), 6 * 0.5 / std::sqrt(n));
  EXPECT_LT(std::abs(squares / n / 0.25 - 1), 6 * std::sqrt(2 / n));
}

}  // namespace
}  // namespace tpc
