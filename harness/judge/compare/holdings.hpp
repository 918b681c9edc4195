// SPDX-License-Identifier: Apache-2.0
// What one rank holds of the expected tensors: whether it is placed as it says, and how it compares.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/judge/compare/tiers.hpp"
#include "harness/values/boxes.hpp"

namespace tpc {

// The expected tensors in the order of their names.
class Catalogue {
 public:
  explicit Catalogue(const ExpectedTensors& expected);
  std::size_t size() const { return entries_.size(); }
  const std::string& name(std::size_t i) const { return entries_[i]->first; }
  const Expected& expected(std::size_t i) const { return entries_[i]->second; }
  std::size_t index_of(const std::string& name) const;  // size() where there is none

 private:
  std::vector<const ExpectedTensors::value_type*> entries_;
};

// A box of an expected tensor and where this rank has it.
struct Source {
  std::size_t tensor = 0;  // in the catalogue
  const LocalTensor* local = nullptr;
  Block block;
  Box box() const { return {block.global_offset, block.extent}; }
};

// The same, compared.
struct Part {
  std::size_t tensor = 0;
  Box box;
  std::uint64_t hash = 0;  // of the bits, row-major
  TensorError error;
  std::int64_t unequal = 0;  // elements
  std::int64_t worst = -1;   // row-major index in the global tensor of the largest error; -1: none
  double got = 0;            // there
};

// Every non-empty block of what was returned. Where a placement or a local tensor is not what it must be,
// `defect` says so (the first one). Without a problem, dtypes are not looked at.
std::vector<Source> sources_of(const std::vector<LocalTensor>& got, const Catalogue& catalogue,
                               const Problem* problem, std::string& defect);
Part compared(const Source& source, const Catalogue& catalogue);
// The parts of a source that `boxes` cut it into.
std::vector<Source> cut_source(const Source& source, const std::vector<Box>& boxes);
// The bits of each element, row-major.
std::vector<std::uint64_t> bits_of(const Source& source);
double value_of_bits(std::uint64_t bits, DType dtype);

}  // namespace tpc
