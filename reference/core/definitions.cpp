// SPDX-License-Identifier: Apache-2.0
#include "reference/core/definitions.hpp"

#include <array>
#include <cmath>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {
constexpr std::array<std::string_view, 13> operation_names = {"column_linear",
                                                              "row_linear",
                                                              "mlp",
                                                              "attention",
                                                              "layer_norm",
                                                              "rms_norm",
                                                              "vocab_embedding",
                                                              "vocab_cross_entropy",
                                                              "transformer_layer",
                                                              "model",
                                                              "dropout",
                                                              "init",
                                                              "train"};
}

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

std::string_view name(Operation operation) { return operation_names.at(static_cast<std::size_t>(operation)); }

Operation operation_named(std::string_view name) {
  for (std::size_t i = 0; i < operation_names.size(); ++i)
    if (operation_names[i] == name) return static_cast<Operation>(i);
  throw UsageError(fmt::format("unknown operation '{}'", name));
}

}  // namespace tpc
