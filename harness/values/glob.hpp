// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tpc {

// Whether all of `text` matches a pattern in which * stands for any text and ? for any character.
constexpr bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         matches(pattern.substr(1), text.substr(1));
}

// Of patterns with commas between them.
constexpr bool matches_one_of(std::string_view patterns, std::string_view text) {
  for (;;) {
    const std::size_t comma = patterns.find(',');
    if (matches(patterns.substr(0, comma), text)) return true;
    if (comma == std::string_view::npos) return false;
    patterns.remove_prefix(comma + 1);
  }
}

}  // namespace tpc
