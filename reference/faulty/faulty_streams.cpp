// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/faulty_streams.hpp"

#include <utility>

#include "reference/faulty/fault.hpp"

namespace tpc {

namespace {

class FaultyStreams : public RandomStreams {
 public:
  FaultyStreams(std::unique_ptr<RandomStreams> inner, const StreamSetup& setup, const FaultSet& faults)
      : inner_(std::move(inner)), setup_(setup), faults_(faults) {}

  std::string_view profile() const override { return inner_->profile(); }
  std::unique_ptr<RandomStreams> clone() const override {
    return std::make_unique<FaultyStreams>(inner_->clone(), setup_, faults_);
  }

  CounterRule for_mask(const MaskSite& site, const DrawLayout& layout) override {
    const bool sharded = is_sharded_over(layout, Axis::tp);
    const bool by_tokens = sharded && site.site != DropoutSite::attention_probabilities;
    CounterRule rule;
    if (planted(Fault::same_mask_on_every_shard) ||
        (by_tokens && planted(Fault::shared_stream_under_sequence_parallel))) {
      rule = of_the_first_shard(site, layout);
    } else if (sharded && planted(Fault::shards_draw_shifted_copies)) {
      rule = of_the_first_shard(site, layout);
      rule.first += shift * static_cast<std::uint64_t>(setup_.tp);
    } else {
      rule = inner_->for_mask(site, layout);
    }
    if (!sharded && planted(Fault::own_mask_where_replicated)) rule.key += own_key();
    return seeded(rule);
  }

  CounterRule for_weights(const std::string& parameter, const DrawLayout& layout) override {
    const StreamState before = inner_->state();
    CounterRule rule;
    if (planted(Fault::same_initial_values_on_every_shard)) {
      rule = inner_->for_weights(parameter, whole_layout(layout.local));
      rule.index = CounterRule::Index::local;
    } else {
      rule = inner_->for_weights(parameter, layout);
    }
    if (!is_sharded_over(layout, Axis::tp) && planted(Fault::replicated_parameter_of_own_stream))
      rule.key += own_key();
    if (planted(Fault::state_restored_after_each_draw)) inner_->restore(before);
    return seeded(rule);
  }

  StreamState state() const override { return inner_->state(); }
  void restore(const StreamState& state) override { inner_->restore(state); }
  void replay(const StreamState& state) override {
    if (!planted(Fault::recompute_draws_anew)) inner_->restore(state);
  }

 private:
  static constexpr std::uint64_t shift = 64;

  bool planted(Fault fault) const { return faults_.contains(fault); }
  std::uint64_t own_key() const { return 1 + static_cast<std::uint64_t>(setup_.tp); }

  // All ranks agree on it, as if it were whole on each. Megatron's streams go by the site, so it is one of a
  // tensor that can be whole.
  CounterRule of_the_first_shard(const MaskSite& site, const DrawLayout& layout) {
    MaskSite shared = site;
    if (profile() == "megatron") shared.site = DropoutSite::mlp_output;
    CounterRule rule = inner_->for_mask(shared, whole_layout(layout.local));
    rule.index = CounterRule::Index::local;
    return rule;
  }

  CounterRule seeded(CounterRule rule) const {
    if (planted(Fault::counter_is_local_index)) rule.index = CounterRule::Index::local;
    if (planted(Fault::seeded_by_world_rank)) rule.key += 1000 * static_cast<std::uint64_t>(setup_.dp);
    return rule;
  }

  std::unique_ptr<RandomStreams> inner_;
  StreamSetup setup_;
  FaultSet faults_;
};

}  // namespace

std::unique_ptr<RandomStreams> make_faulty(std::unique_ptr<RandomStreams> inner, const StreamSetup& setup,
                                           const FaultSet& faults) {
  if (faults.empty()) return inner;
  return std::make_unique<FaultyStreams>(std::move(inner), setup, faults);
}

}  // namespace tpc
