// SPDX-License-Identifier: Apache-2.0
#include "reference/core/contract.hpp"

namespace tpc {

EnvironmentError::EnvironmentError(const std::string& problem, const std::string& reason,
                                   const std::string& suggestion)
    : std::runtime_error(fmt::format("{}: {}; {}", problem, reason, suggestion)) {}

void throw_contract_error(const char* condition, const std::string& message, const char* file, int line) {
  throw ContractError(fmt::format("{} (expected {} at {}:{})", message, condition, file, line));
}

}  // namespace tpc
