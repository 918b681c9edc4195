// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/explain/diagnosis/dictionary.hpp"

namespace tpc {

// The reference with each of the planted faults that can occur in a request, and requests that are misread.
std::vector<Suspect> known_suspects(const Request& request);

Suspect suspect_with(const FaultSet& faults);  // one or more

// Where no suspect explains everything, two faults at once may: those of one public report, and those that
// explain something each and are contradicted by nothing.
std::vector<FaultSet> pairs_worth_trying(const std::vector<Candidate>& candidates);

}  // namespace tpc
