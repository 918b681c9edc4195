// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/compute/checks.hpp"
#include "reference/compute/host.hpp"
#include "reference/compute/host_loops.hpp"

namespace tpc {

namespace {

// What one row's gradient needs; the probability of class j is exp(x_j - max) / sum_exp.
template <class W>
struct RowGradient {
  W max, sum_exp, seed;
  W softmax_weight;  // 1 + 2·z·lse
  SmoothedTarget share;

  W at(W logit, double share_of_class) const {
    const W probability = std::exp(logit - max) / sum_exp;
    return seed * (probability * softmax_weight - static_cast<W>(share_of_class));
  }
};

// `target` is the local column of the target, anything outside [0, valid) where that lies elsewhere.
template <class T>
void logit_gradients(T* dlogits, const T* logits, const RowGradient<Wide<T>>& row, std::int64_t valid,
                     std::int64_t target) {
  const bool here = target >= 0 && target < valid;
  const T at_target = here ? static_cast<T>(row.at(widen(logits[target]), row.share.target)) : T{};
  for (std::int64_t j = 0; j < valid; ++j)
    dlogits[j] = static_cast<T>(row.at(widen(logits[j]), row.share.other));
  if (here) dlogits[target] = at_target;
}

template <class W>
struct RowLoss {
  W max, sum_exp, target_logit, sum_logit;

  W value(const SmoothedTarget& share, double z_loss) const {
    const W lse = max + std::log(sum_exp);
    W loss = lse - static_cast<W>(share.target) * target_logit;
    if (share.other != 0) loss -= static_cast<W>(share.other) * (sum_logit - target_logit);
    if (z_loss != 0) loss += static_cast<W>(z_loss) * lse * lse;
    return loss;
  }
};

}  // namespace

void HostKernels::cross_entropy_max(const Tensor& max, const Tensor& logits, const VocabSlice& slice) {
  const checks::Rows rows = checks::rows_of(logits);
  visit_float(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const T* x = values<T>(logits);
    for (std::int64_t r = 0; r < rows.count; ++r, x += rows.width)
      values<W>(max)[r] = max_over<W>(checks::valid_width(slice), -std::numeric_limits<W>::infinity(),
                                      [&](std::int64_t i) { return widen(x[i]); });
  });
}

void HostKernels::cross_entropy_sums(const Tensor& sum_exp, const Tensor& target_logit,
                                     const Tensor& sum_logit, const Tensor& logits, const Tensor& max,
                                     const Tensor& targets, const VocabSlice& slice) {
  const checks::Rows rows = checks::rows_of(logits);
  const std::int64_t valid = checks::valid_width(slice);
  visit_float(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const T* x = values<T>(logits);
    for (std::int64_t r = 0; r < rows.count; ++r, x += rows.width) {
      const W m = values<W>(max)[r];
      const std::int64_t target = values<std::int64_t>(targets)[r] - slice.first;
      values<W>(sum_exp)[r] = sum_over<W>(valid, [&](std::int64_t i) { return std::exp(widen(x[i]) - m); });
      values<W>(sum_logit)[r] = sum_over<W>(valid, [&](std::int64_t i) { return widen(x[i]); });
      values<W>(target_logit)[r] = target >= 0 && target < valid ? widen(x[target]) : W{0};
    }
  });
}

void HostKernels::cross_entropy_loss(const Tensor& loss, const Tensor& max, const Tensor& sum_exp,
                                     const Tensor& target_logit, const Tensor& sum_logit,
                                     const Tensor& targets, const LossDefinition& definition,
                                     std::int64_t vocab) {
  const std::int64_t rows = loss.count();
  const SmoothedTarget share = smoothed_target(definition, vocab);
  visit_float(loss.dtype(), [&](auto zero) {
    using W = Wide<decltype(zero)>;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t target = values<std::int64_t>(targets)[r];
      const bool ignored = target == definition.ignore_index;
      TPC_EXPECT(ignored || (target >= 0 && target < vocab),
                 "target {} of row {} is not in a vocabulary of {}", target, r, vocab);
      const RowLoss<W> row{values<W>(max)[r], values<W>(sum_exp)[r], values<W>(target_logit)[r],
                           values<W>(sum_logit)[r]};
      values<W>(loss)[r] = ignored ? W{0} : row.value(share, definition.z_loss);
    }
  });
}

void HostKernels::cross_entropy_backward(const Tensor& dlogits, const Tensor& logits, const Tensor& max,
                                         const Tensor& sum_exp, const Tensor& targets, const Tensor& seeds,
                                         const LossDefinition& definition, const VocabSlice& slice) {
  const checks::Rows rows = checks::rows_of(logits);
  const std::int64_t valid = checks::valid_width(slice);
  const SmoothedTarget share = smoothed_target(definition, slice.valid);
  visit_float(logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    using W = Wide<T>;
    const T* x = values<T>(logits);
    T* dx = values<T>(dlogits);
    for (std::int64_t r = 0; r < rows.count; ++r, x += rows.width, dx += rows.width) {
      const std::int64_t target = values<std::int64_t>(targets)[r];
      const bool ignored = target == definition.ignore_index;
      const W lse = values<W>(max)[r] + std::log(values<W>(sum_exp)[r]);
      const RowGradient<W> row{values<W>(max)[r], values<W>(sum_exp)[r], values<W>(seeds)[r],
                               1 + 2 * static_cast<W>(definition.z_loss) * lse, share};
      if (!ignored) logit_gradients(dx, x, row, valid, target - slice.first);
      std::fill(dx + (ignored ? 0 : valid), dx + rows.width, T{});
    }
  });
}

void HostKernels::loss_weights(const Tensor& weights, const Tensor& targets,
                               const LossDefinition& definition) {
  const std::int64_t rows = targets.count();
  const auto* target = values<std::int64_t>(targets);
  const std::int64_t valid = rows - std::count(target, target + rows, definition.ignore_index);
  const std::int64_t count = definition.mean_over == LossMean::valid_tokens ? valid : rows;
  visit_float(weights.dtype(), [&](auto zero) {
    using W = Wide<decltype(zero)>;
    W* to = values<W>(weights);
    for (std::int64_t r = 0; r < rows; ++r)
      to[r] = target[r] == definition.ignore_index ? W{0} : 1 / static_cast<W>(count);
  });
}

}  // namespace tpc
