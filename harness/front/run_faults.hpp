// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/front/run_frame.hpp"

namespace tpc {

// Collective; the exit code that all ranks agreed on.
// The kill matrix: cases as in a run, put to the reference with one fault after the other.
int run_matrix(const RunFrame& frame);
// The diagnosis, of the reference with one fault after the other.
int run_confusion(const RunFrame& frame);

}  // namespace tpc
