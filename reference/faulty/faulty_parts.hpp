// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/faulty/fault_set.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

// Parts of which those go wrong that the faults are about; the right ones where none is planted. For one
// context.
std::shared_ptr<const Parts> make_parts(const FaultSet& faults);

}  // namespace tpc
