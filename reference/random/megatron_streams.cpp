// SPDX-License-Identifier: Apache-2.0
#include "reference/random/profiles.hpp"
#include "reference/random/stream_tracker.hpp"

namespace tpc {

namespace {

constexpr const char* model_parallel_stream = "model-parallel-rng";

StreamTracker megatron_tracker(const StreamSetup& setup) {
  if (setup.seed == 0) throw UsageError("random profile 'megatron': the seed must be positive, got 0");
  const std::uint64_t dp = setup.seed_by_data_parallel_rank ? 10U * static_cast<std::uint64_t>(setup.dp) : 0U;
  const std::uint64_t seed = setup.seed + 100U * static_cast<std::uint64_t>(setup.pp) + dp;
  const auto tp = static_cast<std::uint64_t>(setup.tp);
  StreamTracker tracker(seed);
  tracker.add("data-parallel-rng", seed);
  tracker.add(model_parallel_stream, seed + 2718 + tp);
  // Without experts their tensor-parallel rank is tp, as it is by default there. Nothing here draws from it.
  tracker.add("expert-parallel-rng", seed + 1024 + tp);
  return tracker;
}

// Numbers follow each other in the order of the draws, and within one in the order of the local elements.
class MegatronStreams final : public RandomStreams {
 public:
  explicit MegatronStreams(const StreamSetup& setup) : tracker_(megatron_tracker(setup)) {}

  std::string_view profile() const override { return "megatron"; }
  std::unique_ptr<RandomStreams> clone() const override { return std::make_unique<MegatronStreams>(*this); }

  // Attention probabilities are sharded by heads and always the rank's own; hidden states are where they are
  // sharded by sequence.
  CounterRule for_mask(const MaskSite& site, const DrawLayout& layout) override {
    const bool own = site.site == DropoutSite::attention_probabilities || is_sharded_over(layout, Axis::tp);
    return own ? from_own(layout) : from_shared(layout);
  }

  // Ranks that hold copies of one shard must agree on it and differ from the holders of another: the whole
  // tensor comes from the shared stream, of which each takes its part.
  CounterRule for_weights(const std::string& /*parameter*/, const DrawLayout& layout) override {
    if (layout.copies > 1) {
      const auto from = tracker_.draw(count(layout.placement.global_shape));
      return {from.seed, 0, from.position, CounterRule::Index::global};
    }
    return is_sharded_over(layout, Axis::tp) ? from_own(layout) : from_shared(layout);
  }

  StreamState state() const override { return tracker_.state(); }
  void restore(const StreamState& state) override { tracker_.restore(state); }

 private:
  static std::uint64_t count(const Shape& shape) { return static_cast<std::uint64_t>(element_count(shape)); }
  CounterRule from_shared(const DrawLayout& layout) {
    const auto from = tracker_.draw(count(layout.local));
    return {from.seed, 0, from.position, CounterRule::Index::local};
  }
  CounterRule from_own(const DrawLayout& layout) {
    const StreamTracker::Fork fork(tracker_, model_parallel_stream);
    return from_shared(layout);
  }

  StreamTracker tracker_;
};

}  // namespace

std::unique_ptr<RandomStreams> make_megatron_streams(const StreamSetup& setup) {
  return std::make_unique<MegatronStreams>(setup);
}

}  // namespace tpc
