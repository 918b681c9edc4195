// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "harness/explain/misreadings/misreadings.hpp"

namespace tpc {

// Steps of another optimizer, or with another norm, clipping or decay.
std::vector<Misreading> misread_training(const TrainProblem& train);

}  // namespace tpc
