// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>

#include "reference/comm/communicator.hpp"

namespace tpc::bench {

// The surroundings failed rank 0, and every rank knows.
class AgreedFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Collective: what only rank 0 does, e.g. with files. Where it throws, all ranks throw, so that none waits
// for one that has left: UsageError as UsageError, anything else as AgreedFailure.
void on_first_rank(Communicator& ranks, const std::function<void()>& work);

}  // namespace tpc::bench
