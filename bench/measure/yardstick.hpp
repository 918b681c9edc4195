// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/sampling.hpp"

namespace tpc::bench {

// A fixed amount of arithmetic in registers, about a millisecond: uses no library and no memory, so when it
// takes longer than it did, the machine itself was slower or busier.
Subject yardstick_subject();

}  // namespace tpc::bench
