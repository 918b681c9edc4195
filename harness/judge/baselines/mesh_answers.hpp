// SPDX-License-Identifier: Apache-2.0
// What a mesh must look like from every rank, found by counting coordinates up and comparing them: for what
// MeshProblem in request.hpp says.
#pragma once

#include "harness/values/request.hpp"
#include "reference/baseline/baseline.hpp"

namespace tpc {

baseline::Solution mesh_answers(const MeshProblem& problem);

}  // namespace tpc
