// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/host.hpp"

namespace tpc {

Tensor HostCompute::allocate(DType dtype, Shape shape, std::string_view label) {
  return allocator_.allocate(dtype, std::move(shape), label);
}

std::unique_ptr<Compute> make_host_compute() { return std::make_unique<HostCompute>(); }

}  // namespace tpc
