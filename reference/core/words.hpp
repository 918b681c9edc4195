// SPDX-License-Identifier: Apache-2.0
// How enumerators are spelt, in one place each. A function `words(E)` beside an enumeration gives the words
// of its enumerators, in their order, from 0 on; `name` and `named` follow from it.
//   enum class Turn { left, right };
//   constexpr auto words(Turn) { return spelling("left", "right"); }
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tpc {

template <class... Text>
constexpr std::array<std::string_view, sizeof...(Text)> spelling(const Text&... text) {
  return {std::string_view(text)...};
}

template <class E>
concept Spelt = requires(E value) {
  words(value)[0];
};

template <Spelt E>
constexpr std::string_view name(E value) {
  constexpr auto all = words(E{});
  return all.at(static_cast<std::size_t>(value));
}

template <Spelt E>
constexpr std::optional<E> named(std::string_view word) {
  constexpr auto all = words(E{});
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == word) return static_cast<E>(i);
  return std::nullopt;
}

// All enumerators, in order.
template <Spelt E>
constexpr auto every() {
  std::array<E, words(E{}).size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
  return all;
}

}  // namespace tpc
