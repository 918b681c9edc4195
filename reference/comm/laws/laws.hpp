// SPDX-License-Identifier: Apache-2.0
// What must hold on every transport, written once: run over threads and over MPI alike.
#pragma once

#include <span>

#include "reference/comm/communicator.hpp"

namespace tpc {

// Called by every rank. Throws ContractError where the law is broken.
struct CommunicatorLaw {
  std::string_view name;
  void (*check)(const CommunicatorPtr& ranks);
};

// Values, shapes, groups: leave the communicator as they found it.
std::span<const CommunicatorLaw> collective_laws();
std::span<const CommunicatorLaw> group_laws();
// A rank skips a call, gives up, or comes late. Each leaves its family unfinished, so each needs one of its
// own.
std::span<const CommunicatorLaw> failure_laws();

// For laws: elements as f64, whatever the dtype.
void set_element(const Tensor& tensor, std::int64_t index, double value);
double element(const Tensor& tensor, std::int64_t index);

}  // namespace tpc
