// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/parameters/gradients.hpp"

namespace tpc {

// min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ and Megatron-LM do (Pascanu, Mikolov,
// Bengio, arXiv 1211.5063). A NaN stays one. Throws UsageError unless max_norm > 0.
double clip_factor(double norm, double max_norm);

// Scales every gradient by the factor that `norm`, their global one, asks for; leaves them alone where it is
// 1. Returns the factor.
double clip_gradients(Compute& compute, const Gradients& gradients, double norm, double max_norm);

}  // namespace tpc
