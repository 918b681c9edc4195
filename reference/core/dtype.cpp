// SPDX-License-Identifier: Apache-2.0
#include "reference/core/dtype.hpp"

#include <array>

namespace tpc {

namespace {
constexpr std::array<std::string_view, 5> dtype_names = {"f64", "f32", "bf16", "i64", "u8"};
}

std::string_view name(DType dtype) { return dtype_names.at(static_cast<std::size_t>(dtype)); }

DType dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < dtype_names.size(); ++i)
    if (dtype_names[i] == name) return static_cast<DType>(i);
  throw UsageError(fmt::format("unknown dtype '{}'; use one of f64, f32, bf16, i64, u8", name));
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::f32:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0;
  }
}

}  // namespace tpc
