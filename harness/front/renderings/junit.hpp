// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/values/record.hpp"

namespace tpc {

// JUnit XML as CI services read it. Failures and errors carry message and replay; what was not run or is not
// supported is skipped, with the reason.
std::string junit_xml(const Provenance& provenance, const std::vector<Record>& records);

}  // namespace tpc
