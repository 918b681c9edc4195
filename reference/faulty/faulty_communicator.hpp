// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/comm/trace.hpp"
#include "reference/compute/compute.hpp"
#include "reference/faulty/fault_set.hpp"

namespace tpc {

// The same communicator with the faults that a communicator can express: what a layer sends at a place where
// it should not, or not what it should (faulty_regions.cpp), and what a library does with it
// (faulty_collectives.cpp, on the host alone). Itself where none of them is planted. Borrows site, as a
// traced communicator does.
CommunicatorPtr make_faulty(CommunicatorPtr inner, const Site& site, Compute& compute,
                            const FaultSet& faults);

// The two halves.
CommunicatorPtr make_faulty_regions(CommunicatorPtr inner, const Site& site, Compute& compute,
                                    const FaultSet& faults);
CommunicatorPtr make_faulty_collectives(CommunicatorPtr inner, const FaultSet& faults);

}  // namespace tpc
