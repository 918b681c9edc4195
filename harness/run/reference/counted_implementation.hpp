// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "harness/values/implementation.hpp"

namespace tpc {

// The same implementation, with what the MPI profiling layer saw of each of its requests put into the
// response (comm/mpi_profile.hpp). Other transports have no such counter, and their responses stay as they
// are.
std::unique_ptr<Implementation> with_counted_calls(std::unique_ptr<Implementation> inner);

}  // namespace tpc
