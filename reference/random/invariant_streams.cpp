// SPDX-License-Identifier: Apache-2.0
#include "reference/core/philox.hpp"
#include "reference/random/profiles.hpp"

namespace tpc {

namespace {

// Keys of different names and seeds are unrelated: a name is hashed, and the hash is a Philox counter under
// the seed. Step and microbatch are kept whole, so that no two of them ever share numbers.
class InvariantStreams final : public RandomStreams {
 public:
  explicit InvariantStreams(std::uint64_t seed) : seed_(seed) {}

  std::string_view profile() const override { return "invariant"; }
  std::unique_ptr<RandomStreams> clone() const override { return std::make_unique<InvariantStreams>(*this); }

  CounterRule for_mask(const MaskSite& site, const DrawLayout& /*layout*/) override {
    constexpr std::int64_t limit = std::int64_t{1} << 32;
    TPC_EXPECT(site.step >= 0 && site.step < limit && site.microbatch >= 0 && site.microbatch < limit,
               "step {}, microbatch {}", site.step, site.microbatch);
    return {key_of("mask/" + site.layer + "/" + std::string(tpc::name(site.site))),
            static_cast<std::uint64_t>(site.step) << 32U | static_cast<std::uint64_t>(site.microbatch), 0,
            CounterRule::Index::global};
  }

  CounterRule for_weights(const std::string& parameter, const DrawLayout& /*layout*/) override {
    return {key_of("weights/" + parameter), 0, 0, CounterRule::Index::global};
  }

  StreamState state() const override { return {{"invariant", seed_, 0}}; }
  void restore(const StreamState& state) override {
    expect_same_names(state, this->state());
    seed_ = state.front().seed;
  }

 private:
  std::uint64_t key_of(const std::string& name) const {
    const PhiloxWords words = philox(seed_, hash_name(name));
    return static_cast<std::uint64_t>(words[1]) << 32U | words[0];
  }

  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<RandomStreams> make_invariant_streams(const StreamSetup& setup) {
  return std::make_unique<InvariantStreams>(setup.seed);
}

}  // namespace tpc
