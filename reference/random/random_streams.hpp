// SPDX-License-Identifier: Apache-2.0
// Which random numbers each rank draws, in three legitimate ways.
//   invariant  Philox keyed by seed, layer, site, step and microbatch; counter = global element index. The
//              numbers do not depend on the mesh at all.
//   megatron   Megatron-LM's tracker of named streams: seed + 100·pp for what tp ranks share, + 2718 + tp for
//              what they must not; data-parallel ranks share all streams unless asked otherwise
//              (megatron/core/tensor_parallel/random.py, megatron/training/initialize.py).
//   dtensor    PyTorch's DTensor: one seed per mesh, each shard starts at an offset of its own and every rank
//              ends at the same one (torch/distributed/tensor/_random.py).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/words.hpp"
#include "reference/mesh/device_mesh.hpp"
#include "reference/random/draw_layout.hpp"

namespace tpc {

enum class DropoutSite { embedding, attention_probabilities, attention_output, mlp_output };
constexpr auto words(DropoutSite) {
  return spelling("embedding", "attention_probabilities", "attention_output", "mlp_output");
}

struct MaskSite {
  std::string layer;  // "blocks.0.attention"
  DropoutSite site = DropoutSite::embedding;
  std::int64_t step = 0;
  std::int64_t microbatch = 0;
};

// Element e of a tensor gets philox(key, first + index of e, stream). The index is row-major in the canonical
// tensor or in the local one.
struct CounterRule {
  enum class Index { global, local };
  std::uint64_t key = 0;
  std::uint64_t stream = 0;
  std::uint64_t first = 0;
  Index index = Index::local;
};

struct Stream {
  std::string name;
  std::uint64_t seed = 0;
  std::uint64_t position = 0;  // of the next number
  bool operator==(const Stream&) const = default;
};
// A plain value: kept for recomputation, written to a checkpoint, compared between ranks.
using StreamState = std::vector<Stream>;

class RandomStreams {
 public:
  RandomStreams() = default;
  virtual ~RandomStreams() = default;

  virtual std::string_view profile() const = 0;
  virtual std::unique_ptr<RandomStreams> clone() const = 0;

  // The numbers of a mask or of a parameter's weights. Streams move on, whether or not this rank holds any
  // element.
  virtual CounterRule for_mask(const MaskSite& site, const DrawLayout& layout) = 0;
  virtual CounterRule for_weights(const std::string& parameter, const DrawLayout& layout) = 0;

  virtual StreamState state() const = 0;
  // A state of the same profile, that is with the same stream names; seeds and positions may be others.
  virtual void restore(const StreamState& state) = 0;
  // The same for a while, to draw once more what was drawn before.
  virtual void replay(const StreamState& state) { restore(state); }

 protected:
  RandomStreams(const RandomStreams&) = default;
  RandomStreams& operator=(const RandomStreams&) = default;
};

// For as long as it lives the streams stand where they stood before, then again where they were: what
// recomputation needs in order to draw the same masks and leave no trace.
class ReplayScope {
 public:
  ReplayScope(RandomStreams& streams, const StreamState& from) : streams_(streams), now_(streams.state()) {
    streams_.replay(from);
  }
  ReplayScope(const ReplayScope&) = delete;
  ReplayScope& operator=(const ReplayScope&) = delete;
  ~ReplayScope() { streams_.replay(now_); }

 private:
  RandomStreams& streams_;
  StreamState now_;
};

struct StreamSetup {
  std::uint64_t seed = 1234;
  int pp = 0;  // coordinates of the rank
  int dp = 0;
  int tp = 0;
  bool seed_by_data_parallel_rank = false;  // megatron's data_parallel_random_init
};
// Coordinates from the axes pp, tp and, together as one, dp, dp_replicate and dp_shard; 0 where there is
// none.
StreamSetup stream_setup(std::uint64_t seed, const DeviceMesh& mesh, bool seed_by_data_parallel_rank = false);

// Throws UsageError for an unknown profile, and where the profile cannot have the seed.
std::unique_ptr<RandomStreams> make_random_streams(std::string_view profile, const StreamSetup& setup);
std::vector<std::string_view> random_profiles();

}  // namespace tpc
