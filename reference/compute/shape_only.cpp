// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/kernels.hpp"

namespace tpc {

namespace {

// Has no kernels: Compute calls none on what is nowhere.
class NoKernels final : public Kernels {
 public:
  std::string_view backend() const override { return "shape-only"; }
  MemorySource memory() const override { return no_memory(); }
};

}  // namespace

std::unique_ptr<Compute> make_shape_only_compute() {
  return std::make_unique<Compute>(std::make_unique<NoKernels>());
}

}  // namespace tpc
