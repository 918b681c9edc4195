// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tpc {

inline std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += separator;
    text += items[i];
  }
  return text;
}

inline std::string joined(const std::vector<int>& items, std::string_view separator) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const int item : items) texts.push_back(std::to_string(item));
  return joined(texts, separator);
}

}  // namespace tpc
