// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/rotary.hpp"

#include <cmath>
#include <numbers>

namespace tpc::baseline {

namespace {

// Wavelengths short against the original context stay, long ones are stretched, those between are blended.
double stretched(const RotaryScaling& scaling, double frequency) {
  const double turns_in_context = scaling.original_positions * frequency / (2 * std::numbers::pi);
  if (turns_in_context > scaling.high_frequency_factor) return frequency;
  if (turns_in_context < scaling.low_frequency_factor) return frequency / scaling.factor;
  const double blend = (turns_in_context - scaling.low_frequency_factor) /
                       (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - blend) * frequency / scaling.factor + blend * frequency;
}

void turn_pair(double& first, double& second, double angle) {
  const double a = first;
  const double b = second;
  first = a * std::cos(angle) - b * std::sin(angle);
  second = a * std::sin(angle) + b * std::cos(angle);
}

}  // namespace

Values rotary_frequencies(const ModelConfig& config) {
  const std::int64_t pairs = config.head_dim / 2;
  Values frequencies(pairs);
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(config.head_dim);
    const double frequency = std::pow(config.rotary_theta, exponent);
    frequencies[i] = config.rotary_scaling ? stretched(*config.rotary_scaling, frequency) : frequency;
  }
  return frequencies;
}

void rotate(const Scope& scope, Values& x, Turn turn) {
  const ModelConfig& config = scope.config();
  const std::int64_t dim = config.head_dim;
  TPC_EXPECT(dim % 2 == 0, "rotary positions turn pairs, but a head has {} elements", dim);
  const Values frequencies = rotary_frequencies(config);
  const std::int64_t pairs = dim / 2;
  const std::int64_t per_position =
      scope.sequence() == 0 ? 0 : static_cast<std::int64_t>(x.size()) / scope.sequence();
  for (std::int64_t s = 0; s < scope.sequence(); ++s) {
    for (std::int64_t head = s * per_position; head < (s + 1) * per_position; head += dim) {
      for (std::int64_t i = 0; i < pairs; ++i) {
        const bool halves = config.rotary == RotaryForm::halves;
        const double angle = static_cast<double>(s) * frequencies[i];
        turn_pair(x[head + (halves ? i : 2 * i)], x[head + (halves ? i + pairs : 2 * i + 1)],
                  turn == Turn::forward ? angle : -angle);
      }
    }
  }
}

}  // namespace tpc::baseline
