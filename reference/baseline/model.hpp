// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/baseline/scope.hpp"

namespace tpc::baseline {

// Embedding, blocks, final norm, head without bias, cross entropy; then the same backwards where the scope
// has dloss. Answers token_loss, loss and the gradient of every parameter.
void solve_model(const Scope& scope);

}  // namespace tpc::baseline
