// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "reference/faulty/fault_set.hpp"
#include "reference/random/random_streams.hpp"

namespace tpc {

// The same streams with the faults that concern which numbers a rank draws. Themselves where nothing is
// planted.
std::unique_ptr<RandomStreams> make_faulty(std::unique_ptr<RandomStreams> inner, const StreamSetup& setup,
                                           const FaultSet& faults);

}  // namespace tpc
