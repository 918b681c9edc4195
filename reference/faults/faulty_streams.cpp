// SPDX-License-Identifier: Apache-2.0
#include "reference/faults/faulty_streams.hpp"

#include <utility>

#include "reference/faults/fault.hpp"

namespace tpc {

namespace {

class FaultyStreams : public RandomStreams {
 public:
  FaultyStreams(std::unique_ptr<RandomStreams> inner, const FaultSet& faults)
      : inner_(std::move(inner)), faults_(faults) {}

  std::string_view profile() const override { return inner_->profile(); }
  std::unique_ptr<RandomStreams> clone() const override {
    return std::make_unique<FaultyStreams>(inner_->clone(), faults_);
  }

  CounterRule for_mask(const MaskSite& site, const DrawLayout& layout) override {
    if (planted(Fault::same_mask_on_every_shard)) return as_if_whole(site, layout);
    return inner_->for_mask(site, layout);
  }
  CounterRule for_weights(const std::string& parameter, const DrawLayout& layout) override {
    return inner_->for_weights(parameter, layout);
  }

  StreamState state() const override { return inner_->state(); }
  void restore(const StreamState& state) override { inner_->restore(state); }

 private:
  bool planted(Fault fault) const { return faults_.contains(fault); }

  CounterRule as_if_whole(const MaskSite& site, const DrawLayout& layout) {
    CounterRule rule = inner_->for_mask(site, whole_layout(layout.local));
    rule.index = CounterRule::Index::local;
    return rule;
  }

  std::unique_ptr<RandomStreams> inner_;
  FaultSet faults_;
};

}  // namespace

std::unique_ptr<RandomStreams> make_faulty(std::unique_ptr<RandomStreams> inner, const FaultSet& faults) {
  if (faults.empty()) return inner;
  return std::make_unique<FaultyStreams>(std::move(inner), faults);
}

}  // namespace tpc
