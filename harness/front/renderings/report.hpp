// SPDX-License-Identifier: Apache-2.0
// What a person reads at the end of a run, made from its records alone.
#pragma once

#include <string>
#include <vector>

#include "harness/values/record.hpp"

namespace tpc {

// A table by suite with the largest ratio of each tier, what was not run or not supported and why, and the
// time with the machine it was taken on.
std::string report(const Provenance& provenance, const std::vector<Record>& records, double seconds);

// For --version: what was built from what.
std::string version_text(const Provenance& provenance);

// Message of a case that did not pass, and the command line that runs it alone.
std::string failure_text(const Record& record);

}  // namespace tpc
