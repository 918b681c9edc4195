// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <vector>

namespace tpc {

// In place; the size is a power of 2. The radix-2 algorithm of Cooley and Tukey (1965). `inverse` includes
// the factor 1/size.
enum class Fourier { forward, inverse };
void fourier_transform(std::vector<std::complex<double>>& values, Fourier direction);

// c[k] = sum over i of a[i]·b[i + k] for k from -(n-1) to n-1; c has 2n-1 entries, lag 0 at n-1.
std::vector<double> cross_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tpc
