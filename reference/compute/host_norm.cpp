// SPDX-License-Identifier: Apache-2.0
// Means divide by the width: a multiplication by its rounded inverse would be off for most widths.
#include <cmath>
#include <vector>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

template <class W, class Term>
W mean_over(std::int64_t n, Term term) {
  return sum_over<W>(n, term) / static_cast<W>(n);
}

// The gradient of a vector that takes part in every row: added up row by row, rounded once.
template <class T>
class ColumnSums {
 public:
  explicit ColumnSums(std::int64_t width) : sums_(static_cast<std::size_t>(width), 0) {}
  Wide<T>* data() { return sums_.data(); }
  void store(const Tensor& vector) const {
    T* to = values<T>(vector);
    for (std::size_t c = 0; c < sums_.size(); ++c) to[c] = static_cast<T>(sums_[c]);
  }

 private:
  std::vector<Wide<T>> sums_;
};

template <class T>
void layer_norm_row_gradient(T* dx, const T* dy, const T* x, const T* gain, Wide<T> mean, Wide<T> rstd,
                             std::int64_t n) {
  using W = Wide<T>;
  const auto g = [=](std::int64_t i) { return widen(dy[i]) * widen(gain[i]); };
  const auto normal = [=](std::int64_t i) { return (widen(x[i]) - mean) * rstd; };
  const W mean_g = mean_over<W>(n, g);
  const W mean_gx = mean_over<W>(n, [=](std::int64_t i) { return g(i) * normal(i); });
  for (std::int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(rstd * (g(i) - mean_g - normal(i) * mean_gx));
}

template <class T>
void rms_norm_row_gradient(T* dx, const T* dy, const T* x, const T* gain, Wide<T> rstd, std::int64_t n) {
  using W = Wide<T>;
  const auto g = [=](std::int64_t i) { return widen(dy[i]) * widen(gain[i]); };
  const auto normal = [=](std::int64_t i) { return widen(x[i]) * rstd; };
  const W mean_gx = mean_over<W>(n, [=](std::int64_t i) { return g(i) * normal(i); });
  for (std::int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(rstd * (g(i) - normal(i) * mean_gx));
}

}  // namespace

void HostKernels::layer_norm(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                             const Tensor& gain, const Tensor& bias, double eps) {
  const auto [count, width] = checks::rows_of(x);
  visit_float(x.dtype(), [&, count = count, n = width](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const T *from = values<T>(x), *g = values<T>(gain), *b = values<T>(bias);
    T* to = values<T>(y);
    for (std::int64_t r = 0; r < count; ++r, from += n, to += n) {
      const W m = mean_over<W>(n, [&](std::int64_t i) { return widen(from[i]); });
      const W variance = mean_over<W>(n, [&](std::int64_t i) {
        const W d = widen(from[i]) - m;
        return d * d;
      });
      const W s = 1 / std::sqrt(variance + static_cast<W>(eps));
      for (std::int64_t i = 0; i < n; ++i)
        to[i] = static_cast<T>((widen(from[i]) - m) * s * widen(g[i]) + widen(b[i]));
      values<W>(mean)[r] = m;
      values<W>(rstd)[r] = s;
    }
  });
}

void HostKernels::layer_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dbias,
                                      const Tensor& dy, const Tensor& x, const Tensor& mean,
                                      const Tensor& rstd, const Tensor& gain) {
  const auto [count, width] = checks::rows_of(x);
  visit_float(x.dtype(), [&, count = count, n = width](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    ColumnSums<T> gain_sums(n);
    ColumnSums<T> bias_sums(n);
    W *gain_sum = gain_sums.data(), *bias_sum = bias_sums.data();
    const T *d = values<T>(dy), *from = values<T>(x), *g = values<T>(gain);
    T* to = values<T>(dx);
    for (std::int64_t r = 0; r < count; ++r, d += n, from += n, to += n) {
      const W m = values<W>(mean)[r];
      const W s = values<W>(rstd)[r];
      for (std::int64_t i = 0; i < n; ++i) {
        gain_sum[i] += widen(d[i]) * ((widen(from[i]) - m) * s);
        bias_sum[i] += widen(d[i]);
      }
      layer_norm_row_gradient(to, d, from, g, m, s, n);
    }
    gain_sums.store(dgain);
    bias_sums.store(dbias);
  });
}

void HostKernels::rms_norm(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& gain,
                           double eps) {
  const auto [count, width] = checks::rows_of(x);
  visit_float(x.dtype(), [&, count = count, n = width](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const T *from = values<T>(x), *g = values<T>(gain);
    T* to = values<T>(y);
    for (std::int64_t r = 0; r < count; ++r, from += n, to += n) {
      const W mean_square = mean_over<W>(n, [&](std::int64_t i) { return widen(from[i]) * widen(from[i]); });
      const W s = 1 / std::sqrt(mean_square + static_cast<W>(eps));
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(widen(from[i]) * s * widen(g[i]));
      values<W>(rstd)[r] = s;
    }
  });
}

void HostKernels::rms_norm_backward(const Tensor& dx, const Tensor& dgain, const Tensor& dy, const Tensor& x,
                                    const Tensor& rstd, const Tensor& gain) {
  const auto [count, width] = checks::rows_of(x);
  visit_float(x.dtype(), [&, count = count, n = width](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    ColumnSums<T> gain_sums(n);
    W* gain_sum = gain_sums.data();
    const T *d = values<T>(dy), *from = values<T>(x), *g = values<T>(gain);
    T* to = values<T>(dx);
    for (std::int64_t r = 0; r < count; ++r, d += n, from += n, to += n) {
      const W s = values<W>(rstd)[r];
      for (std::int64_t i = 0; i < n; ++i) gain_sum[i] += widen(d[i]) * (widen(from[i]) * s);
      rms_norm_row_gradient(to, d, from, g, s, n);
    }
    gain_sums.store(dgain);
  });
}

}  // namespace tpc
