// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tpc {

// "blocks.0.mlp" and "fc1.weight" make "blocks.0.mlp.fc1.weight"; a layer on its own has no prefix.
inline std::string join(const std::string& prefix, const std::string& name) {
  if (prefix.empty() || name.empty()) return prefix + name;
  return prefix + "." + name;
}

}  // namespace tpc
