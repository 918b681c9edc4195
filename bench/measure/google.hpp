// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/sampling.hpp"

namespace tpc::bench {

// Google Benchmark runs the iterations: as many as were agreed on (left to choose by itself, ranks would
// choose differently and wait for each other for ever), with the time that is handed to it. Prints nothing.
Loop google_loop();

}  // namespace tpc::bench
