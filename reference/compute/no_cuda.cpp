// SPDX-License-Identifier: Apache-2.0
// Stands in for cuda.cu in a build without CUDA.
#include "reference/compute/compute.hpp"

namespace tpc {

std::unique_ptr<Compute> make_cuda_compute(int device) {
  throw EnvironmentError(fmt::format("CUDA device {} cannot be used", device), "this build is without CUDA",
                         "configure with the CUDA toolkit installed and -DTPC_CUDA=ON");
}

}  // namespace tpc
