// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: Philox4x32-10 of Random123 (Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). A value is a function of (key, index), so any rank draws any slice.
// The derived numbers are dyadic rationals made without libm: the same bits on a host, on a GPU and in
// Python.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace tpc {

using PhiloxWords = std::array<std::uint32_t, 4>;

inline PhiloxWords philox(std::uint64_t key, std::uint64_t index, std::uint64_t stream = 0) {
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32U),
       static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U)}};
  const r123::Philox4x32::key_type k = {
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32U)}};
  const auto out = r123::Philox4x32{}(counter, k);
  return {out[0], out[1], out[2], out[3]};
}

// Uniform on {0, 1, ..., 2^32 - 1} / 2^32.
inline double uniform(const PhiloxWords& words) { return words[0] * 0x1p-32; }

// Sum of twelve uniforms of 10 bits, shifted to mean 0 and variance 1, refined by the 8 bits left over: a
// multiple of 2^-18 inside (-6, 6), so 21 significant bits, representable in f32.
inline double gaussian(const PhiloxWords& words) {
  std::int64_t sum = 0;
  std::int64_t rest = 0;
  for (const std::uint32_t word : words) {
    sum += (word & 0x3ffU) + ((word >> 10U) & 0x3ffU) + ((word >> 20U) & 0x3ffU);
    rest = rest * 4 + (word >> 30U);
  }
  constexpr std::int64_t mean_of_sum = 12 * 1023 / 2;
  return static_cast<double>((sum - mean_of_sum) * 256 + rest - 128) * 0x1p-18;
}

// FNV-1a, 64 bits: a key from a name.
constexpr std::uint64_t hash_name(std::string_view name, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace tpc
