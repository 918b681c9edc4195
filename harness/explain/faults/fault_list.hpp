// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tpc {

// What --list-faults prints: a line per planted fault, then why the other rows of the catalogue are not
// planted.
std::string fault_list();

}  // namespace tpc
