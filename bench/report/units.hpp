// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tpc::bench {

std::string seconds_text(double seconds);  // "1.23 ms"
std::string bytes_text(double bytes);      // "1.57 MB"

}  // namespace tpc::bench
