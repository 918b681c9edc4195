// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/parameters/loading.hpp"

namespace tpc {

// Where a layer's tensors come from for as long as they are used: whoever owns them may have to gather them
// first, and may free them afterwards.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;

  // What `layer` computes with in this direction; there until it is given back. Layers acquire in the order
  // in which they run, which is the same on all ranks, so that this may communicate.
  virtual const Parameters& acquire(const std::string& layer, Direction direction) = 0;
  virtual void give_back(const std::string& layer, Direction direction) noexcept = 0;
};

// For the length of a scope.
class Acquired {
 public:
  Acquired(ParameterSource& source, const std::string& layer, Direction direction)
      : source_(source),
        layer_(layer),
        direction_(direction),
        parameters_(source.acquire(layer, direction)) {}
  Acquired(const Acquired&) = delete;
  Acquired& operator=(const Acquired&) = delete;
  ~Acquired() { source_.give_back(layer_, direction_); }

  const Parameters& operator*() const { return parameters_; }

 private:
  ParameterSource& source_;
  const std::string& layer_;
  Direction direction_;
  const Parameters& parameters_;
};

// All of them, always there.
class HeldParameters final : public ParameterSource {
 public:
  HeldParameters() = default;
  explicit HeldParameters(Parameters parameters) : all_(std::move(parameters)) {}

  const Parameters& acquire(const std::string& /*layer*/, Direction /*direction*/) override { return all_; }
  void give_back(const std::string& /*layer*/, Direction /*direction*/) noexcept override {}
  const Parameters& all() const { return all_; }

 private:
  Parameters all_;
};

}  // namespace tpc
