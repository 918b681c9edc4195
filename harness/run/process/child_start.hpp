// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "harness/values/machine/descriptor.hpp"

namespace tpc {

// A child that was just started, seen from its parent. Reading and writing do not block.
struct StartedChild {
  int process = 0;  // of the guard that keeps it
  Descriptor request;
  Descriptor response;
  Descriptor log;
};

// Throws EnvironmentError.
StartedChild start_child(const std::string& command, const std::map<std::string, std::string>& environment);

}  // namespace tpc
