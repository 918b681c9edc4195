// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/comm/trace.hpp"

namespace tpc {

// Which collectives are missing and which are too many beside those of the reference, in whatever order they
// were called: "calls beside those of the reference: backward lacks 1 all_reduce of 96 f64 on tp". Empty
// where there is no difference. There are several right ways to communicate, so that it is a hint.
std::string calls_beside(const Trace& reference, const Trace& got);

}  // namespace tpc
