// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/values/suite.hpp"

namespace tpc {

// What a case states: formula, shapes, definitions, mesh, tolerance.
std::string explanation(const Case& c);

// Throws UsageError where there is no such case, naming similar ones.
const Case& case_named(const std::vector<Suite>& suites, const std::string& full_name);

}  // namespace tpc
