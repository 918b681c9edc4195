// SPDX-License-Identifier: Apache-2.0
// Which cells of operation x T x sequence parallelism x tier have cases, and why the others have none.
#pragma once

#include <string>
#include <vector>

#include "harness/values/suite.hpp"

namespace tpc {

// The table, and below it the number of cases of each suite by T.
std::string coverage_table(const std::vector<Suite>& suites);

// Cells without a case and without a reason: there should be none.
std::vector<std::string> empty_cells(const std::vector<Suite>& suites);

}  // namespace tpc
