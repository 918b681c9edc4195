// SPDX-License-Identifier: Apache-2.0
#include "reference/optimizer/clipping.hpp"

namespace tpc {

double clip_factor(double norm, double max_norm) {
  if (!(max_norm > 0))
    throw UsageError(fmt::format("gradients clipped to norm {}: it must be positive", max_norm));
  const double factor = max_norm / (norm + 1e-6);
  return factor > 1 ? 1 : factor;
}

double clip_gradients(Compute& compute, const Gradients& gradients, double norm, double max_norm) {
  const double factor = clip_factor(norm, max_norm);
  if (factor == 1) return factor;
  for (const auto& [name, gradient] : gradients.all()) compute.scale(gradient, gradient, factor);
  return factor;
}

}  // namespace tpc
