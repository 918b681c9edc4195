// SPDX-License-Identifier: Apache-2.0
// The pages of the table of faults.
#pragma once

#include "reference/faulty/fault.hpp"

namespace tpc {

std::vector<FaultRow> faults_of_gradients();
std::vector<FaultRow> faults_of_the_vocabulary();
std::vector<FaultRow> faults_of_weights();
std::vector<FaultRow> faults_of_random_numbers_and_steps();
std::vector<FaultRow> faults_of_collectives();

}  // namespace tpc
