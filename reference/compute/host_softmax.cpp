// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

// Over the first `visible` of `width` entries; the others are neither read nor given any weight.
template <class T>
void softmax_row(T* p, const T* scores, Wide<T> factor, std::int64_t visible, std::vector<Wide<T>>& buffer) {
  using W = Wide<T>;
  W* e = buffer.data();
  const W largest = max_over<W>(visible, -std::numeric_limits<W>::infinity(),
                                [&](std::int64_t i) { return factor * widen(scores[i]); });
  for (std::int64_t i = 0; i < visible; ++i) e[i] = std::exp(factor * widen(scores[i]) - largest);
  const W sum = sum_over<W>(visible, [&](std::int64_t i) { return e[i]; });
  for (std::int64_t i = 0; i < visible; ++i) p[i] = static_cast<T>(e[i] / sum);
  for (auto i = static_cast<std::size_t>(visible); i < buffer.size(); ++i) p[i] = static_cast<T>(W{0});
}

}  // namespace

void HostKernels::softmax(const Tensor& p, const Tensor& scores, double factor, bool causal) {
  const checks::Rows rows = checks::rows_of(scores);
  visit_float(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Wide<T>> buffer(static_cast<std::size_t>(rows.width));
    const T* from = values<T>(scores);
    T* to = values<T>(p);
    if (rows.width == 0) return;
    for (std::int64_t r = 0; r < rows.count; ++r, from += rows.width, to += rows.width) {
      const std::int64_t visible = causal ? r % rows.width + 1 : rows.width;
      softmax_row(to, from, static_cast<Wide<T>>(factor), visible, buffer);
    }
  });
}

void HostKernels::softmax_backward(const Tensor& dscores, const Tensor& dp, const Tensor& p, double factor) {
  const checks::Rows rows = checks::rows_of(p);
  visit_float(p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto wide_factor = static_cast<Wide<T>>(factor);
    const T *d = values<T>(dp), *q = values<T>(p);
    T* to = values<T>(dscores);
    for (std::int64_t r = 0; r < rows.count; ++r, d += rows.width, q += rows.width, to += rows.width) {
      const auto mean =
          sum_over<Wide<T>>(rows.width, [&](std::int64_t i) { return widen(d[i]) * widen(q[i]); });
      for (std::int64_t i = 0; i < rows.width; ++i)
        to[i] = static_cast<T>(wide_factor * (widen(q[i]) * (widen(d[i]) - mean)));
    }
  });
}

}  // namespace tpc
