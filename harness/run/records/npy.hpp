// SPDX-License-Identifier: Apache-2.0
// NumPy's file format, version 1.0, for one dense array.
#pragma once

#include <filesystem>
#include <string>

#include "reference/core/tensor.hpp"

namespace tpc {

// bf16 has no type there and is widened to f32, which is exact.
std::string npy_bytes(const Tensor& tensor);
void write_npy(const std::filesystem::path& path, const Tensor& tensor);  // throws EnvironmentError

}  // namespace tpc
