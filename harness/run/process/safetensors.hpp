// SPDX-License-Identifier: Apache-2.0
// Named tensors in a file, in the format of https://github.com/huggingface/safetensors: a length, a JSON
// header, the elements. What an outside process wrote is believed in nothing: every offset is checked against
// the file before a byte is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "reference/core/tensor.hpp"

namespace tpc {

using NamedTensors = std::map<std::string, Tensor>;

// A file that is not what it says.
class MalformedFile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws EnvironmentError.
void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

// Files of more than `most_bytes` are not read. Tensors are copies: a file that changes meanwhile can harm
// values alone. Throws MalformedFile.
NamedTensors read_safetensors(const std::filesystem::path& file, std::uint64_t most_bytes);

}  // namespace tpc
