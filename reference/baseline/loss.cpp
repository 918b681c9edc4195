// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/loss.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tpc::baseline {

namespace {
constexpr std::int64_t ignored = -1;
}

CrossEntropy::CrossEntropy(Scope scope) : scope_(std::move(scope)) {
  const ModelConfig& config = scope_.config();
  std::int64_t valid = 0;
  for (const double target : scope_.input("targets", {scope_.sequence(), scope_.batch()})) {
    if (target == static_cast<double>(config.loss.ignore_index)) {
      targets_.push_back(ignored);
      continue;
    }
    TPC_EXPECT(target >= 0 && target < static_cast<double>(config.vocab) && target == std::floor(target),
               "target {} in a vocabulary of {}", target, config.vocab);
    targets_.push_back(static_cast<std::int64_t>(target));
    ++valid;
  }
  const std::int64_t counted = config.loss.mean_over == LossMean::valid_tokens ? valid : scope_.tokens();
  weight_ = counted == 0 ? 0 : 1 / static_cast<double>(counted);
}

// lse - Σ_v q_v·z_v + z_loss·lse², with all logits taken relative to the largest; the shares q sum to 1.
CrossEntropy::TokenLoss CrossEntropy::token_loss(const double* logits, std::int64_t token) {
  const LossDefinition& loss = scope_.config().loss;
  const std::int64_t vocab = scope_.config().vocab;
  const auto [q_target, q_other] = smoothed_target(loss, vocab);
  const double largest = *std::max_element(logits, logits + vocab);
  double sum_exp = 0;
  double others = 0;
  double others_magnitude = 0;
  for (std::int64_t v = 0; v < vocab; ++v) {
    sum_exp += std::exp(logits[v] - largest);
    if (v == targets_[token]) continue;
    others += logits[v] - largest;
    others_magnitude += std::fabs(logits[v]);
  }
  const double target = logits[targets_[token]];
  const double lse = largest + std::log(sum_exp);
  log_sum_exp_[token] = lse;
  largest_sum_ = std::max(largest_sum_, sum_exp);
  const double z_term = loss.z_loss * lse * lse;
  return {std::log(sum_exp) - q_target * (target - largest) - q_other * others + z_term,
          std::fabs(lse) + q_target * std::fabs(target) + q_other * others_magnitude + z_term};
}

void CrossEntropy::forward(const Values& logits) {
  const std::int64_t vocab = scope_.config().vocab;
  log_sum_exp_.assign(scope_.tokens(), 0.0);
  Terms tokens;
  Terms loss;
  loss.value = {0};
  loss.magnitudes = {0};
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    const TokenLoss token = targets_[t] == ignored ? TokenLoss{} : token_loss(logits.data() + t * vocab, t);
    tokens.value.push_back(token.value);
    tokens.magnitudes.push_back(token.magnitude);
    loss.value[0] += weight_ * token.value;
    loss.magnitudes[0] += weight_ * token.magnitude;
  }
  loss.unit = scope_.unit({weight_}) * scope_.unit(tokens.value);
  scope_.contraction("statistics.sum_exp", largest_sum_, 1);
  scope_.stored("statistics.token_loss", tokens.value);
  scope_.contraction("statistics.loss", loss);
  scope_.answer("token_loss", {scope_.sequence(), scope_.batch()}, std::move(tokens));
  scope_.answer("loss", {1}, std::move(loss));
}

// dlogits_v = dloss·weight·(p_v·(1 + 2·z_loss·lse) - q_v)
Terms CrossEntropy::backward(Values logits, double dloss, Magnitudes asked) const {
  const LossDefinition& loss = scope_.config().loss;
  const std::int64_t vocab = scope_.config().vocab;
  const auto [q_target, q_other] = smoothed_target(loss, vocab);
  Terms gradient;
  gradient.value = std::move(logits);
  if (scope_.needs(asked)) gradient.magnitudes.resize(gradient.value.size());
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    const double upstream = targets_[t] == ignored ? 0 : dloss * weight_;
    const double lse = log_sum_exp_[t];
    for (std::int64_t v = 0; v < vocab; ++v) {
      double& element = gradient.value[t * vocab + v];
      const double p = upstream == 0 ? 0 : std::exp(element - lse);
      const double q = v == targets_[t] ? q_target : q_other;
      element = upstream * (p * (1 + 2 * loss.z_loss * lse) - q);
      if (!gradient.magnitudes.empty())
        gradient.magnitudes[t * vocab + v] =
            std::fabs(upstream) * (p * (1 + 2 * loss.z_loss * std::fabs(lse)) + q);
    }
  }
  scope_.stored("dlogits", gradient.value);
  gradient.unit = scope_.unit(gradient.value);
  return gradient;
}

}  // namespace tpc::baseline
