// SPDX-License-Identifier: Apache-2.0
// Which of the planted faults can make a difference to the answer to a request.
#pragma once

#include "harness/values/request.hpp"
#include "reference/faulty/fault.hpp"

namespace tpc {

// Judged by what the request is about, not by running it: some of the faults that can occur leave a given
// answer right, those that cannot always do.
bool can_occur(const FaultRow& row, const Request& request);
std::vector<Fault> faults_that_can_occur(const Request& request);  // in the order of the table

}  // namespace tpc
