// SPDX-License-Identifier: Apache-2.0
#include "reference/random/stream_tracker.hpp"

#include <algorithm>

#include "reference/random/profiles.hpp"

namespace tpc {

void StreamTracker::add(const std::string& name, std::uint64_t seed) {
  for (const Named& stream : streams_) {
    if (stream.name == name) throw UsageError(fmt::format("random stream '{}' is there already", name));
    if (stream.generator.seed == seed)
      throw UsageError(
          fmt::format("random streams '{}' and '{}' would both have seed {}", stream.name, name, seed));
  }
  streams_.push_back({name, {seed, 0}});
}

StreamTracker::Fork::Fork(StreamTracker& tracker, const std::string& name)
    : tracker_(tracker), index_(0), before_(tracker.current_) {
  const auto found = std::find_if(tracker.streams_.begin(), tracker.streams_.end(),
                                  [&](const Named& stream) { return stream.name == name; });
  TPC_EXPECT(found != tracker.streams_.end(), "no random stream '{}'", name);
  TPC_EXPECT(!found->forked, "random stream '{}' is in use already", name);
  index_ = static_cast<std::size_t>(found - tracker.streams_.begin());
  found->forked = true;
  tracker_.current_ = found->generator;
}

StreamTracker::Fork::~Fork() {
  Named& stream = tracker_.streams_[index_];
  stream.generator = tracker_.current_;
  stream.forked = false;
  tracker_.current_ = before_;
}

StreamTracker::Generator StreamTracker::draw(std::uint64_t count) {
  const Generator from = current_;
  current_.position += count;
  return from;
}

bool StreamTracker::in_fork() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const Named& stream) { return stream.forked; });
}

StreamState StreamTracker::state() const {
  TPC_EXPECT(!in_fork(), "random state asked for inside a fork");
  StreamState state = {{"default", current_.seed, current_.position}};
  for (const Named& stream : streams_)
    state.push_back({stream.name, stream.generator.seed, stream.generator.position});
  return state;
}

void StreamTracker::restore(const StreamState& state) {
  expect_same_names(state, this->state());
  current_ = {state.front().seed, state.front().position};
  for (std::size_t i = 0; i < streams_.size(); ++i)
    streams_[i].generator = {state[i + 1].seed, state[i + 1].position};
}

}  // namespace tpc
