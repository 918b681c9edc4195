// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/wording.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace tpc {

namespace {

constexpr double like_decimals = 0.05;  // of the larger

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view between = " \n(),;";
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t first = text.find_first_not_of(between);
    if (first == std::string_view::npos) break;
    text.remove_prefix(first);
    const std::size_t length = std::min(text.find_first_of(between), text.size());
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

bool is_count_or_score(const std::vector<std::string_view>& words, std::size_t i) {
  const std::string_view before = i == 0 ? "" : words[i - 1];
  const std::string_view after = i + 1 == words.size() ? "" : words[i + 1];
  return before == "of" || before == "z" || after == "of" || after == "elements" || after == "positions";
}

bool are_near(double one, double other) {
  return std::fabs(one - other) <= like_decimals * std::max(std::fabs(one), std::fabs(other));
}

}  // namespace

bool reads_like(std::string_view one, std::string_view other) {
  const std::vector<std::string_view> ones = words_of(one);
  const std::vector<std::string_view> others = words_of(other);
  if (ones.size() != others.size()) return false;
  for (std::size_t i = 0; i < ones.size(); ++i) {
    if (ones[i] == others[i]) continue;
    const auto a = number(ones[i]);
    const auto b = number(others[i]);
    if (!a || !b) return false;
    const bool decimals = ones[i].find('.') != ones[i].npos && others[i].find('.') != others[i].npos;
    if (!is_count_or_score(ones, i) && !(decimals && are_near(*a, *b))) return false;
  }
  return true;
}

}  // namespace tpc
