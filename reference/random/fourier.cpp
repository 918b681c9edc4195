// SPDX-License-Identifier: Apache-2.0
#include "reference/random/fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

void reverse_bits_of_indices(std::vector<std::complex<double>>& values) {
  std::size_t reversed = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    std::size_t bit = values.size() >> 1U;
    for (; (reversed & bit) != 0; bit >>= 1U) reversed ^= bit;
    reversed |= bit;
    if (i < reversed) std::swap(values[i], values[reversed]);
  }
}

}  // namespace

void fourier_transform(std::vector<std::complex<double>>& values, Fourier direction) {
  const std::size_t n = values.size();
  TPC_EXPECT(std::has_single_bit(n), "a Fourier transform of {} values", n);
  reverse_bits_of_indices(values);
  const double sign = direction == Fourier::forward ? -1 : 1;
  for (std::size_t length = 2; length <= n; length *= 2) {
    std::vector<std::complex<double>> roots(length / 2);
    for (std::size_t k = 0; k < roots.size(); ++k)
      roots[k] =
          std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
    for (std::size_t first = 0; first < n; first += length)
      for (std::size_t k = 0; k < roots.size(); ++k) {
        const std::complex<double> even = values[first + k];
        const std::complex<double> odd = values[first + k + roots.size()] * roots[k];
        values[first + k] = even + odd;
        values[first + k + roots.size()] = even - odd;
      }
  }
  if (direction == Fourier::inverse)
    for (auto& value : values) value /= static_cast<double>(n);
}

std::vector<double> cross_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  TPC_EXPECT(a.size() == b.size() && !a.empty(), "{} values against {}", a.size(), b.size());
  const std::size_t n = a.size();
  const std::size_t padded = std::bit_ceil(2 * n);
  std::vector<std::complex<double>> fa(padded);
  std::vector<std::complex<double>> fb(padded);
  for (std::size_t i = 0; i < n; ++i) {
    fa[i] = a[i];
    fb[i] = b[i];
  }
  fourier_transform(fa, Fourier::forward);
  fourier_transform(fb, Fourier::forward);
  for (std::size_t i = 0; i < padded; ++i) fb[i] *= std::conj(fa[i]);
  fourier_transform(fb, Fourier::inverse);

  std::vector<double> correlation(2 * n - 1);
  for (std::size_t at = 0; at < correlation.size(); ++at)
    correlation[at] = fb[(at + padded - (n - 1)) & (padded - 1)].real();  // a power of two
  return correlation;
}

}  // namespace tpc
