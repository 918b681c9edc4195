// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

// The row of the local weight that belongs to an id; -1 where it lies on another rank or in the padding.
std::int64_t weight_row(std::int64_t id, const VocabSlice& slice) {
  const std::int64_t row = id - slice.first;
  return row >= 0 && row < checks::valid_width(slice) ? row : -1;
}

// The tokens of each weight row, in the order in which they come: those of row v are
// tokens[first[v]] ... tokens[first[v + 1] - 1].
struct TokensByRow {
  std::vector<std::int64_t> first, tokens;
};

TokensByRow tokens_by_row(const std::int64_t* ids, std::int64_t count, const VocabSlice& slice) {
  TokensByRow sorted;
  sorted.first.assign(static_cast<std::size_t>(slice.width) + 1, 0);
  for (std::int64_t t = 0; t < count; ++t)
    if (const auto row = weight_row(ids[t], slice); row >= 0)
      ++sorted.first[static_cast<std::size_t>(row) + 1];
  for (std::size_t v = 1; v < sorted.first.size(); ++v) sorted.first[v] += sorted.first[v - 1];
  sorted.tokens.resize(static_cast<std::size_t>(sorted.first.back()));
  std::vector<std::int64_t> next(sorted.first.begin(), sorted.first.end() - 1);
  for (std::int64_t t = 0; t < count; ++t)
    if (const auto row = weight_row(ids[t], slice); row >= 0)
      sorted.tokens[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] = t;
  return sorted;
}

}  // namespace

void HostKernels::embedding(const Tensor& y, const Tensor& ids, const Tensor& weight,
                            const VocabSlice& slice) {
  const checks::Rows rows = checks::rows_of(y);
  visit_float(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = values<T>(weight);
    const auto* id = values<std::int64_t>(ids);
    T* to = values<T>(y);
    for (std::int64_t r = 0; r < rows.count; ++r, to += rows.width) {
      const std::int64_t row = weight_row(id[r], slice);
      if (row >= 0)
        std::copy_n(from + row * rows.width, rows.width, to);
      else
        std::fill_n(to, rows.width, T{});
    }
  });
}

void HostKernels::embedding_backward(const Tensor& dweight, const Tensor& dy, const Tensor& ids,
                                     const VocabSlice& slice) {
  const checks::Rows rows = checks::rows_of(dy);
  const TokensByRow sorted = tokens_by_row(values<std::int64_t>(ids), rows.count, slice);
  visit_float(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<Wide<T>> sums(static_cast<std::size_t>(rows.width));
    T* to = values<T>(dweight);
    for (std::size_t v = 0; v + 1 < sorted.first.size(); ++v, to += rows.width) {
      std::ranges::fill(sums, Wide<T>{0});
      for (auto t = sorted.first[v]; t < sorted.first[v + 1]; ++t) {
        const T* d = values<T>(dy) + sorted.tokens[static_cast<std::size_t>(t)] * rows.width;
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += widen(d[c]);
      }
      for (std::size_t c = 0; c < sums.size(); ++c) to[c] = static_cast<T>(sums[c]);
    }
  });
}

}  // namespace tpc
