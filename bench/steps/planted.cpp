// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/planted.hpp"

#include <array>
#include <charconv>
#include <vector>

namespace tpc::bench {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ':')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

[[noreturn]] void refuse(const std::string& implementation) {
  throw UsageError(fmt::format(
      "--implementation {}: unknown; known: reference, and with a planted fault reference+wrong:COLLECTIVE, "
      "reference+slow:COLLECTIVE:SHARE, reference+slow-rank:RANK:SHARE",
      implementation));
}

CollectiveKind kind_named(const std::string& word, const std::string& implementation) {
  for (const auto kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
    if (name(kind) == word) return kind;
  refuse(implementation);
}

double number(const std::string& word, const std::string& implementation) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || value < 0) refuse(implementation);
  return value;
}

}  // namespace

Planted planted_in(const std::string& implementation) {
  Planted planted;
  if (implementation == "reference") return planted;
  const std::string prefix = "reference+";
  if (!implementation.starts_with(prefix)) refuse(implementation);
  const std::vector<std::string> words = words_of(implementation.substr(prefix.size()));
  if (words.size() == 2 && words[0] == "wrong") {
    planted.wrong = kind_named(words[1], implementation);
  } else if (words.size() == 3 && words[0] == "slow") {
    planted.slow = kind_named(words[1], implementation);
    planted.drag = number(words[2], implementation);
  } else if (words.size() == 3 && words[0] == "slow-rank") {
    planted.slow_rank = static_cast<int>(number(words[1], implementation));
    planted.drag = number(words[2], implementation);
  } else {
    refuse(implementation);
  }
  return planted;
}

}  // namespace tpc::bench
