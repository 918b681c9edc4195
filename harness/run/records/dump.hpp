// SPDX-License-Identifier: Apache-2.0
// Keeps what a failing case expected, what each rank got, and its inputs, for a look with numpy.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

// Makes the folder, with a README in it. Throws UsageError.
void make_dump_folder(const std::filesystem::path& folder);

// On every rank that holds tensors. Rank 0 also writes what is the same for all. Throws EnvironmentError.
struct FailedCase {
  const Case& c;
  const std::vector<LocalTensor>& got;
  const ExpectedTensors& expected;
  int rank = 0;
};
void dump(const std::filesystem::path& folder, const FailedCase& failed);

}  // namespace tpc
