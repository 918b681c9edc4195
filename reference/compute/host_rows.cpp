// SPDX-License-Identifier: Apache-2.0
// Rows against a vector, and the sums over everything.
#include <vector>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

void HostKernels::add_rows(const Tensor& y, const Tensor& x, const Tensor& vector) {
  const checks::Rows rows = checks::rows_of(x);
  visit_float(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* v = values<T>(vector);
    const T* from = values<T>(x);
    T* to = values<T>(y);
    for (std::int64_t r = 0; r < rows.count; ++r, from += rows.width, to += rows.width)
      for (std::int64_t c = 0; c < rows.width; ++c) to[c] = static_cast<T>(widen(from[c]) + widen(v[c]));
  });
}

void HostKernels::sum_rows(const Tensor& vector, const Tensor& x) {
  const checks::Rows rows = checks::rows_of(x);
  visit_float(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Wide<T>> sums(static_cast<std::size_t>(rows.width), 0);
    Wide<T>* sum = sums.data();
    const T* row = values<T>(x);
    for (std::int64_t r = 0; r < rows.count; ++r, row += rows.width)
      for (std::int64_t c = 0; c < rows.width; ++c) sum[c] += widen(row[c]);
    T* to = values<T>(vector);
    for (std::int64_t c = 0; c < rows.width; ++c) to[c] = static_cast<T>(sum[c]);
  });
}

void HostKernels::dot(const Tensor& scalar, const Tensor& a, const Tensor& b) {
  const std::int64_t n = a.count();
  visit_float(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *u = values<T>(a), *v = values<T>(b);
    *values<Wide<T>>(scalar) =
        sum_over<Wide<T>>(n, [&](std::int64_t i) { return widen(u[i]) * widen(v[i]); });
  });
}

}  // namespace tpc
