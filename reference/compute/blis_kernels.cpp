// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/blis_kernels.hpp"

#include <blis.h>

#include <cstdlib>
#include <string>

namespace tpc {

namespace {

// A BLIS made for one processor alone has no others to choose from.
#ifdef BLIS_FAMILY_X86_64
arch_t widest_kernels() {
  if (!__builtin_cpu_is("amd")) return BLIS_ARCH_GENERIC;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return BLIS_ARCH_SKX;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return BLIS_ARCH_HASWELL;
  return BLIS_ARCH_GENERIC;
}
#else
arch_t widest_kernels() { return BLIS_ARCH_GENERIC; }
#endif

}  // namespace

bool choose_blis_kernels() {
  const arch_t choice = widest_kernels();
  if (choice == BLIS_ARCH_GENERIC || std::getenv("BLIS_ARCH_TYPE") != nullptr) return false;
  return setenv("BLIS_ARCH_TYPE", std::to_string(static_cast<int>(choice)).c_str(), 0) == 0;
}

}  // namespace tpc
