// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/random/random_streams.hpp"

namespace tpc {

// One generator is in use, the default one; named others wait and take its place inside a fork. After
// CudaRNGStatesTracker of Megatron-LM.
class StreamTracker {
 public:
  struct Generator {
    std::uint64_t seed = 0;
    std::uint64_t position = 0;
  };

  explicit StreamTracker(std::uint64_t default_seed) : current_{default_seed, 0} {}

  // Throws UsageError where the name or the seed is taken by another named stream. The default generator's
  // seed may be used once more.
  void add(const std::string& name, std::uint64_t seed);

  // The named stream is the one in use until this ends. Forks nest, each name once.
  class Fork {
   public:
    Fork(StreamTracker& tracker, const std::string& name);
    Fork(const Fork&) = delete;
    Fork& operator=(const Fork&) = delete;
    ~Fork();

   private:
    StreamTracker& tracker_;
    std::size_t index_;
    Generator before_;
  };

  // Takes `count` numbers from the generator in use: where they begin.
  Generator draw(std::uint64_t count);

  // "default", then the named streams in the order of addition. Outside of forks only, where the default
  // generator is the one in use.
  StreamState state() const;
  void restore(const StreamState& state);

 private:
  struct Named {
    std::string name;
    Generator generator;
    bool forked = false;
  };
  bool in_fork() const;

  Generator current_;
  std::vector<Named> streams_;
};

}  // namespace tpc
