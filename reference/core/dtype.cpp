// SPDX-License-Identifier: Apache-2.0
#include "reference/core/dtype.hpp"

namespace tpc {

DType dtype_named(std::string_view name) {
  if (const auto dtype = named<DType>(name)) return *dtype;
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
