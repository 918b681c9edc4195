// SPDX-License-Identifier: Apache-2.0
// Whether two messages about failures say the same.
#pragma once

#include <string_view>

namespace tpc {

// Word by word. Of values that are drawn, what was measured differs a little between implementations that do
// the same, and how many elements a shard has is their own choice: decimal numbers may differ by a twentieth,
// and counts ("of 96", "96 of", "96 elements") and the z of a test do not matter.
bool reads_like(std::string_view one, std::string_view other);

}  // namespace tpc
