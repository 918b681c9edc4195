// SPDX-License-Identifier: Apache-2.0
#include "harness/values/request.hpp"

#include <fmt/format.h>

#include <iterator>

#include "harness/values/members.hpp"

namespace tpc {

namespace {

// Numbers in their shortest exact form, strings and lists with their length: no two problems read alike.
class KeyWriter {
 public:
  template <class T>
  void add(const T& value) {
    if constexpr (Composed<T>)
      visit_members(value, [this](const char*, const auto& member) { add(member); });
    else if constexpr (std::is_enum_v<T>)
      write("{} ", static_cast<int>(value));
    else if constexpr (std::is_same_v<T, std::string>)
      write("{}:{} ", value.size(), value);
    else
      write("{} ", value);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class... Alternatives>
  void add(const std::variant<Alternatives...>& value) {
    add(value.index());
    std::visit([this](const auto& held) { add(held); }, value);
  }
  template <class T>
  void add(const std::vector<T>& list) {
    add(list.size());
    for (const T& item : list) add(item);
  }
  std::string text() && { return std::move(text_); }

 private:
  template <class... Values>
  void write(fmt::format_string<const Values&...> format, const Values&... values) {
    fmt::format_to(std::back_inserter(text_), format, values...);
  }
  std::string text_;
};

}  // namespace

std::string key(const Problem& problem) {
  KeyWriter key;
  key.add(problem);
  return std::move(key).text();
}

}  // namespace tpc
