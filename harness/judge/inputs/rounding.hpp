// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/core/dtype.hpp"

namespace tpc {

// To nearest, ties to even, in one step: on the way to bf16 the f32 in between is rounded to odd, or a value
// just beside a tie would be rounded twice. Values beyond the range become infinite.
inline bf16 round_to_bf16(double value) {
  const auto narrow = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(narrow) || static_cast<double>(narrow) == value) return bf16(narrow);
  auto bits = std::bit_cast<std::uint32_t>(narrow);
  if (std::fabs(static_cast<double>(narrow)) > std::fabs(value)) --bits;
  return bf16(std::bit_cast<float>(bits | 1U));
}

// The value that a tensor of this dtype stores in its place.
inline double stored_value(double value, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return value;
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::bf16:
      return static_cast<double>(static_cast<float>(round_to_bf16(value)));
    case DType::i64:
    case DType::u8:
      return std::nearbyint(value);
  }
  return value;
}

}  // namespace tpc
