// SPDX-License-Identifier: Apache-2.0
#include "reference/core/definitions.hpp"

#include <cmath>

#include "reference/core/contract.hpp"

namespace tpc {

SmoothedTarget smoothed_target(const LossDefinition& loss, std::int64_t vocab) {
  const double epsilon = loss.label_smoothing;
  if (loss.smoothing_over == SmoothingOver::other_classes && vocab > 1)
    return {1 - epsilon, epsilon / static_cast<double>(vocab - 1)};
  const double share = epsilon / static_cast<double>(vocab);
  return {1 - epsilon + share, share};
}

double attention_scale(const ModelConfig& config) {
  return config.attention_scale.value_or(1 / std::sqrt(static_cast<double>(config.head_dim)));
}

Operation operation_named(std::string_view name) {
  if (const auto operation = named<Operation>(name)) return *operation;
  throw UsageError(fmt::format("unknown operation '{}'", name));
}

}  // namespace tpc
