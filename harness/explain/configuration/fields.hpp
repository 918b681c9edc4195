// SPDX-License-Identifier: Apache-2.0
// The options of a configuration, one row each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/explain/configuration/configuration.hpp"

namespace tpc {

struct Field {
  enum class Kind { whole, real, choice };

  std::string key;
  Kind kind = Kind::choice;
  std::string values;  // what it may be, for messages: "off, kept or regathered"
  std::function<std::string(const Configuration&)> get;
  std::function<bool(Configuration&, const std::string&)> set;  // false: no such value
  std::function<bool(const Configuration&)> matters;
};

// In the order of the canonical line: what makes a case large comes first.
const std::vector<Field>& configuration_fields();

// "a, b or c"
std::string either(const std::vector<std::string>& words);

}  // namespace tpc
