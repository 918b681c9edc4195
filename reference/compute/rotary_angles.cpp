// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/rotary_angles.hpp"

#include <cmath>
#include <numbers>

namespace tpc {

namespace {

// Llama 3: a pair that turns at least `high` times within the original context keeps its frequency, one that
// turns at most `low` times is slowed by `factor`, and between them the share is linear in the turns.
double stretched_frequency(double frequency, const RotaryScaling& scaling) {
  const double turns = scaling.original_positions * frequency / (2 * std::numbers::pi);
  const double slowed = frequency / scaling.factor;
  if (turns > scaling.high_frequency_factor) return frequency;
  if (turns < scaling.low_frequency_factor) return slowed;
  const double share =
      (turns - scaling.low_frequency_factor) / (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - share) * slowed + share * frequency;
}

}  // namespace

std::vector<double> rotary_frequencies(const ModelConfig& config) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < config.head_dim / 2; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(config.head_dim);
    const double plain = std::pow(config.rotary_theta, exponent);
    frequencies.push_back(config.rotary_scaling ? stretched_frequency(plain, *config.rotary_scaling) : plain);
  }
  return frequencies;
}

}  // namespace tpc
