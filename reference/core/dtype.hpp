// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reference/core/contract.hpp"
#include "reference/core/words.hpp"

namespace tpc {

enum class DType { f64, f32, bf16, i64, u8 };
constexpr auto words(DType) { return spelling("f64", "f32", "bf16", "i64", "u8"); }

// bfloat16: the upper half of an f32. Conversion from f32 rounds to nearest, ties to even; NaN stays NaN.
struct bf16 {
  std::uint16_t bits = 0;

  bf16() = default;
  explicit bf16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool nan = (wide & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = wide + 0x7fffU + ((wide >> 16U) & 1U);
    bits = static_cast<std::uint16_t>((nan ? (wide | 0x00400000U) : rounded) >> 16U);
  }
  operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }  // widening is exact
};

DType dtype_named(std::string_view name);  // throws UsageError

constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
      return 8;
    case DType::f32:
      return 4;
    case DType::bf16:
      return 2;
    case DType::u8:
      return 1;
  }
  return 0;
}

// Unit roundoff u: 2^-53, 2^-24, 2^-8 (bf16 keeps 8 significant bits).
double unit_roundoff(DType dtype);

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<bf16>() {
  return DType::bf16;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::u8;
}

// Calls f with a value of the C++ type that belongs to a floating dtype: visit_float(dt, [&](auto zero) { ...
// }).
template <class F>
decltype(auto) visit_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(double{});
    case DType::f32:
      return f(float{});
    case DType::bf16:
      return f(bf16{});
    default:
      break;
  }
  TPC_EXPECT(false, "{} is not a floating dtype", name(dtype));
  return f(double{});
}

template <class F>
decltype(auto) visit_any(DType dtype, F&& f) {
  if (dtype == DType::i64) return f(std::int64_t{});
  if (dtype == DType::u8) return f(std::uint8_t{});
  return visit_float(dtype, static_cast<F&&>(f));
}

}  // namespace tpc
