// SPDX-License-Identifier: Apache-2.0
// Answers on their way from the rank that found them to all others: one file per problem in a private folder
// in memory. Once every rank has mapped it, its name can go; the pages last as long as somebody maps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/judge/compare/compare.hpp"

namespace tpc {

std::uint64_t free_bytes(const std::filesystem::path& folder);

// A tensor with its values; Expected::values points to them.
struct OwnedTensor {
  std::vector<double> values;
  Expected expected;
};
using OwnedTensors = std::map<std::string, OwnedTensor>;

// Complete or absent: written under another name, then renamed. Frees each tensor once written. Throws
// EnvironmentError.
void write_answers(const std::filesystem::path& file, OwnedTensors answers);

// Read-only.
class MappedAnswers {
 public:
  explicit MappedAnswers(const std::filesystem::path& file);  // throws EnvironmentError
  ~MappedAnswers();
  MappedAnswers(const MappedAnswers&) = delete;
  MappedAnswers& operator=(const MappedAnswers&) = delete;
  const ExpectedTensors& tensors() const { return tensors_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void* address_ = nullptr;
  std::uint64_t bytes_ = 0;
  ExpectedTensors tensors_;
};

}  // namespace tpc
