// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/tensor.hpp"

namespace tpc {

// Where an allocator's bytes live. `set` writes one value into every byte.
struct MemorySource {
  Place place;
  std::function<std::byte*(std::size_t bytes, const std::string& label)> acquire;
  std::function<void(std::byte*)> release;
  std::function<void(std::byte*, int value, std::size_t bytes)> set;
};

MemorySource host_memory();
MemorySource no_memory();  // nowhere

// The memory account: knows every storage it made for as long as that lives. A tensor may outlive the
// allocator. New memory holds NaN (floats), a huge number (i64) or 255 (u8), so that a read of what was never
// written shows.
class Allocator {
 public:
  explicit Allocator(MemorySource memory = host_memory());

  Tensor allocate(DType dtype, Shape shape, std::string_view label);
  std::size_t live_bytes() const;

  struct Entry {
    std::string label;
    std::size_t bytes;
  };
  std::vector<Entry> live() const;  // in the order of allocation

  // Overwrites every live storage that is not in `keep` with what new memory holds.
  void fill_except(const std::set<const Storage*>& keep);

 private:
  struct Account;
  std::shared_ptr<Account> account_;
};

std::set<const Storage*> storages_of(const std::vector<Tensor>& tensors);

}  // namespace tpc
