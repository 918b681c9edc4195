// SPDX-License-Identifier: Apache-2.0
// Plain values as bytes and back, for what ranks of one program tell each other.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reference/core/contract.hpp"

namespace tpc {

class Packer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> Packer& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& put(std::string_view text) {
    put(static_cast<std::uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  template <class Items, class PutItem>
  Packer& put_all(const Items& items, const PutItem& put_item) {
    put(static_cast<std::uint64_t>(items.size()));
    for (const auto& item : items) put_item(*this, item);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(get<std::uint64_t>())); }
  template <class Item, class GetItem>
  std::vector<Item> all(const GetItem& get_item) {
    std::vector<Item> items;
    for (auto left = get<std::uint64_t>(); left > 0; --left) items.push_back(get_item(*this));
    return items;
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    TPC_EXPECT(count <= bytes_.size(), "{} bytes wanted, {} left", count, bytes_.size());
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

}  // namespace tpc
