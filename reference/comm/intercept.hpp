// SPDX-License-Identifier: Apache-2.0
// Functions around the calls of a communicator: traces, logs, planted faults.
#pragma once

#include <functional>

#include "reference/comm/communicator.hpp"

namespace tpc {

// Called instead of start, with the communicator that the call was meant for; hands the call on, changed or
// not, or does something else.
using Around = std::function<Pending(Communicator& inner, const Call& call, const DeviceStream& after)>;

struct Interception {
  Around start;
  // Of the members that a subgroup is asked for: those that it gets.
  std::function<std::vector<int>(const std::vector<int>& members)> regroup = {};
  std::function<void(Communicator& inner)> poll = {};  // instead of poll
};

// The same communicator with these functions about it, and about every group that is made from it.
CommunicatorPtr intercept(CommunicatorPtr inner, Interception with);

}  // namespace tpc
