// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/host.hpp"

namespace tpc {

std::unique_ptr<Compute> make_host_compute() {
  return std::make_unique<Compute>(std::make_unique<HostKernels>());
}

}  // namespace tpc
