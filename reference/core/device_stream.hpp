// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tpc {

// An order in which a device does what it is told. The host has none: it has finished when a call returns.
// The handle is the backend's own, a cudaStream_t where it is CUDA's; null is its default.
struct DeviceStream {
  void* handle = nullptr;
};

}  // namespace tpc
