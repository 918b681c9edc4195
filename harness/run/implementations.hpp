// SPDX-License-Identifier: Apache-2.0
// Who can be judged, by name.
#pragma once

#include <memory>
#include <string_view>

#include "harness/run/process/rank_place.hpp"
#include "harness/values/implementation.hpp"
#include "reference/faulty/fault_set.hpp"

namespace tpc {

std::unique_ptr<Implementation> make_reference_implementation(const FaultSet& faults = {});

// "reference", "reference+fault:TP-01+TP-09", "exec:COMMAND". Throws UsageError.
std::unique_ptr<Implementation> make_implementation(std::string_view name, const RankPlace& place);
bool is_outside_process(std::string_view name);

}  // namespace tpc
