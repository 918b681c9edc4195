// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/faulty/fault_set.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

// Whether a rank's slice has an id, padding aside.
bool owns(const VocabSlice& slice, std::int64_t id);
// Rows of the vocabulary that equal shares of it have, rounded down.
std::int64_t whole_shares(const VocabSlice& slice, const Position& at);

// The vocab-parallel cross entropy with the faults that concern it.
std::unique_ptr<VocabCrossEntropy> faulty_cross_entropy(const FaultSet& faults,
                                                        const LossDefinition& definition,
                                                        const VocabSlice& slice, const Position& at);

}  // namespace tpc
