// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/allocator.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace tpc {

namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector register

// All ones is a NaN in every floating format; 0x7f7f... is a huge i64.
int unwritten_byte(DType dtype) { return dtype == DType::i64 ? 0x7f : 0xff; }

std::byte* acquire_on_host(std::size_t bytes, const std::string& label) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  auto* data = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (data == nullptr)
    throw EnvironmentError(fmt::format("no memory for {} bytes of '{}'", bytes, label),
                           "the allocation failed", "use a smaller model or fewer layers");
  return data;
}

}  // namespace

MemorySource host_memory() {
  return {Place::host, acquire_on_host, [](std::byte* data) { std::free(data); },
          [](std::byte* data, int value, std::size_t bytes) { std::memset(data, value, bytes); }};
}

MemorySource no_memory() {
  return {Place::nowhere, [](std::size_t, const std::string&) { return static_cast<std::byte*>(nullptr); },
          [](std::byte*) {}, [](std::byte*, int, std::size_t) {}};
}

// Shared with the release function of every storage; a storage may end on another thread.
struct Allocator::Account {
  struct Record {
    const Storage* storage;
    DType dtype;
  };

  void add(const Storage& storage, DType dtype) {
    const std::lock_guard lock(mutex);
    records.emplace(next, Record{&storage, dtype});
    numbers.emplace(&storage, next++);
    bytes += storage.bytes;
  }
  void remove(const Storage& storage) {
    const std::lock_guard lock(mutex);
    const auto number = numbers.find(&storage);
    records.erase(number->second);
    numbers.erase(number);
    bytes -= storage.bytes;
  }

  MemorySource memory;
  std::mutex mutex;
  std::map<std::size_t, Record> records;  // by order of allocation
  std::map<const Storage*, std::size_t> numbers;
  std::size_t next = 0;
  std::size_t bytes = 0;
};

Allocator::Allocator(MemorySource memory) : account_(std::make_shared<Account>()) {
  account_->memory = std::move(memory);
}

Tensor Allocator::allocate(DType dtype, Shape shape, std::string_view label) {
  auto storage = std::make_shared<Storage>();
  storage->bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  storage->label = label;
  storage->place = account_->memory.place;
  if (storage->bytes > 0) {
    storage->data = account_->memory.acquire(storage->bytes, storage->label);
    account_->memory.set(storage->data, unwritten_byte(dtype), storage->bytes);
  }
  account_->add(*storage, dtype);
  storage->release = [account = account_](Storage& ended) {
    account->remove(ended);
    if (ended.bytes > 0) account->memory.release(ended.data);
  };
  return {std::move(storage), dtype, std::move(shape)};
}

std::size_t Allocator::live_bytes() const {
  const std::lock_guard lock(account_->mutex);
  return account_->bytes;
}

std::vector<Allocator::Entry> Allocator::live() const {
  const std::lock_guard lock(account_->mutex);
  std::vector<Entry> entries;
  for (const auto& [number, record] : account_->records)
    entries.push_back({record.storage->label, record.storage->bytes});
  return entries;
}

void Allocator::fill_except(const std::set<const Storage*>& keep) {
  const std::lock_guard lock(account_->mutex);
  for (const auto& [number, record] : account_->records)
    if (record.storage->bytes > 0 && !keep.contains(record.storage))
      account_->memory.set(record.storage->data, unwritten_byte(record.dtype), record.storage->bytes);
}

std::set<const Storage*> storages_of(const std::vector<Tensor>& tensors) {
  std::set<const Storage*> storages;
  for (const Tensor& tensor : tensors) storages.insert(tensor.storage().get());
  return storages;
}

}  // namespace tpc
