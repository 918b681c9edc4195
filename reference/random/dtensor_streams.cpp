// SPDX-License-Identifier: Apache-2.0
#include "reference/random/profiles.hpp"

namespace tpc {

namespace {

constexpr std::uint64_t next_multiple_of_4(std::int64_t n) {
  return (static_cast<std::uint64_t>(n) + 3U) / 4U * 4U;
}

// Shard i starts i first shards after the stream's position, and the stream moves on by the whole tensor,
// both rounded up to a multiple of 4. Replicas thus draw the same numbers and all ranks end alike. Shards
// whose size is no multiple of 4 may share up to 3 numbers with a neighbour: that is the rule. Where two axes
// cut one dim, PyTorch takes the last axis' cut of the whole dim as the first shard; here it is the true one.
class DTensorStreams final : public RandomStreams {
 public:
  explicit DTensorStreams(std::uint64_t seed) : seed_(seed) {}

  std::string_view profile() const override { return "dtensor"; }
  std::unique_ptr<RandomStreams> clone() const override { return std::make_unique<DTensorStreams>(*this); }

  CounterRule for_mask(const MaskSite& /*site*/, const DrawLayout& layout) override { return draw(layout); }
  CounterRule for_weights(const std::string& /*parameter*/, const DrawLayout& layout) override {
    return draw(layout);
  }

  StreamState state() const override { return {{"parallel-rng", seed_, offset_}}; }
  void restore(const StreamState& state) override {
    expect_same_names(state, this->state());
    seed_ = state.front().seed;
    offset_ = state.front().position;
  }

 private:
  CounterRule draw(const DrawLayout& layout) {
    const std::uint64_t before = offset_;
    offset_ = before + next_multiple_of_4(element_count(layout.placement.global_shape));
    return {seed_, 0, before + next_multiple_of_4(shard_index(layout) * element_count(layout.first_shard)),
            CounterRule::Index::local};
  }

  std::uint64_t seed_;
  std::uint64_t offset_ = 0;
};

}  // namespace

// One seed for all ranks of a mesh of one program, another for each pipeline stage.
std::unique_ptr<RandomStreams> make_dtensor_streams(const StreamSetup& setup) {
  return std::make_unique<DTensorStreams>(setup.seed + static_cast<std::uint64_t>(setup.pp));
}

}  // namespace tpc
