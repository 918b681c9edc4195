// SPDX-License-Identifier: Apache-2.0
// Stands in for nccl.cpp in a build without NCCL.
#include "reference/comm/nccl/nccl.hpp"

namespace tpc {

CommunicatorPtr make_nccl_communicator(const CommunicatorPtr& /*ranks*/, int device) {
  throw EnvironmentError(fmt::format("NCCL cannot be used on device {}", device),
                         "this build is without NCCL",
                         "configure with CUDA and NCCL installed and -DTPC_CUDA=ON");
}

}  // namespace tpc
