// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/values/record.hpp"

namespace tpc {

// A table of what blocks and models sent, phase by phase: calls, payload, ring wire bytes, what the profile
// allows and the difference, and the payload in seconds at the headline rates of three links. Empty unless
// volume is all that the run was about.
std::string volume_report(const std::vector<Record>& records);

}  // namespace tpc
