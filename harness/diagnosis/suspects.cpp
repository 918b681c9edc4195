// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/suspects.hpp"

#include "harness/diagnosis/misreadings.hpp"
#include "harness/faults/fault_conditions.hpp"
#include "harness/reference/counted_implementation.hpp"

namespace tpc {

std::vector<Suspect> known_suspects(const Request& request) {
  std::vector<Suspect> suspects;
  for (const Fault fault : faults_that_can_occur(request)) {
    const FaultRow& row = row_of(fault);
    suspects.push_back({std::string(row.id), std::string(row.title), std::string(row.source),
                        row.fault_class == FaultClass::hang, [fault] {
                          return with_counted_calls(make_reference_implementation(FaultSet(fault)));
                        }});
  }
  for (Suspect& suspect : misreading_suspects(request)) suspects.push_back(std::move(suspect));
  return suspects;
}

}  // namespace tpc
