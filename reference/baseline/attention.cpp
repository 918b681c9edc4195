// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/attention.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/baseline/heads.hpp"
#include "reference/baseline/rotary.hpp"

namespace tpc::baseline {

namespace {

Linear projection(const Scope& scope, const std::string& name, Linear::Size size, bool has_bias) {
  return {scope.inner(name), size, has_bias};
}

Linear::Size into_heads(const ModelConfig& config, std::int64_t heads) {
  return {config.hidden, heads * config.head_dim};
}

void expect_grouped_heads(const ModelConfig& config) {
  TPC_EXPECT(config.kv_heads > 0 && config.heads % config.kv_heads == 0,
             "{} heads do not share {} kv heads evenly", config.heads, config.kv_heads);
}

// Softmax of the first `visible` of a row's scores, in place; the others get probability 0.
double softmax_in_place(double* row, std::int64_t visible, std::int64_t width) {
  const double largest = *std::max_element(row, row + visible);
  double sum = 0;
  for (std::int64_t j = 0; j < visible; ++j) {
    row[j] = std::exp(row[j] - largest);
    sum += row[j];
  }
  for (std::int64_t j = 0; j < visible; ++j) row[j] /= sum;
  std::fill(row + visible, row + width, 0.0);
  return sum;
}

}  // namespace

Attention::Attention(Scope scope)
    : scope_(std::move(scope)),
      q_(projection(scope_, "q", into_heads(scope_.config(), scope_.config().heads),
                    scope_.config().qkv_bias)),
      k_(projection(scope_, "k", into_heads(scope_.config(), scope_.config().kv_heads),
                    scope_.config().qkv_bias)),
      v_(projection(scope_, "v", into_heads(scope_.config(), scope_.config().kv_heads),
                    scope_.config().qkv_bias)),
      out_(projection(scope_, "out",
                      {scope_.config().heads * scope_.config().head_dim, scope_.config().hidden},
                      scope_.config().out_bias)),
      dropout_(scope_, "attention_probabilities", scope_.config().dropout.attention) {
  expect_grouped_heads(scope_.config());
}

Terms Attention::forward(Values x, State& state, Magnitudes asked) const {
  state.x = std::move(x);
  state.q = q_.forward(state.x).value;
  state.k = k_.forward(state.x).value;
  state.v = v_.forward(state.x).value;
  if (scope_.config().position == PositionKind::rotary) {
    rotate(scope_, state.q, Turn::forward);
    rotate(scope_, state.k, Turn::forward);
    scope_.stored("q.turned", state.q);
    scope_.stored("k.turned", state.k);
  }
  const auto pairs = [this](const Values& a, const Values& b) { return pair_products(scope_, a, b); };
  const auto mix = [this](const Values& a, const Values& b) { return mix_keys(scope_, a, b); };
  state.probabilities = softmax_of_scores(contracted(scope_, "scores", pairs, state.q, state.k));
  if (dropout_.active()) state.dropped = dropout_.apply(state.probabilities, pairs_shape());
  state.context = contracted(scope_, "context", mix, weights(state), state.v);
  return out_.forward(state.context, asked);
}

Shape Attention::pairs_shape() const {
  return {scope_.batch(), scope_.config().heads, scope_.sequence(), scope_.sequence()};
}

Values Attention::softmax_of_scores(Values scores) const {
  const std::int64_t sequence = scope_.sequence();
  const double scale = attention_scale(scope_.config());
  for (double& score : scores) score *= scale;
  double largest_sum = 0;
  const std::int64_t rows = scope_.batch() * scope_.config().heads * sequence;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t visible = scope_.config().causal ? row % sequence + 1 : sequence;
    const double sum = softmax_in_place(scores.data() + row * sequence, visible, sequence);
    largest_sum = std::max(largest_sum, sum);
  }
  scope_.contraction("statistics.sum_exp", largest_sum, 1);
  scope_.stored("probabilities", scores);
  return scores;
}

// dS = P ⊙ (dP - Σ_j P·dP)·scale, the gradient of the unscaled scores. Near a saturated softmax the
// difference is a small part of its terms, and every format that rounds P or dP is as far off as they are: so
// the magnitudes count.
Terms Attention::scores_gradient(const Values& probabilities, const Values& dprobabilities) const {
  const std::int64_t sequence = scope_.sequence();
  const double scale = attention_scale(scope_.config());
  Terms gradient{Values(probabilities.size()), Values(probabilities.size()), 0};
  double largest_dot = 0;
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(probabilities.size()); first += sequence) {
    double dot = 0;
    double magnitude = 0;
    for (std::int64_t j = first; j < first + sequence; ++j) {
      dot += probabilities[j] * dprobabilities[j];
      magnitude += std::fabs(probabilities[j] * dprobabilities[j]);
    }
    largest_dot = std::max(largest_dot, magnitude);
    for (std::int64_t j = first; j < first + sequence; ++j) {
      gradient.value[j] = probabilities[j] * (dprobabilities[j] - dot) * scale;
      gradient.magnitudes[j] =
          probabilities[j] * (std::fabs(dprobabilities[j]) + magnitude) * std::fabs(scale);
    }
  }
  scope_.contraction("statistics.softmax_dot", largest_dot,
                     scope_.unit(probabilities) * scope_.unit(dprobabilities));
  scope_.stored("dscores", gradient.value);
  return gradient;
}

Terms Attention::backward(const Values& dy, const State& state, Magnitudes asked) const {
  const auto pairs = [this](const Values& a, const Values& b) { return pair_products(scope_, a, b); };
  const auto to_queries = [this](const Values& a, const Values& b) { return mix_keys(scope_, a, b); };
  const auto to_keys = [this](const Values& a, const Values& b) { return mix_queries(scope_, a, b); };

  out_.backward_parameters(state.context, dy);
  const Values dcontext = out_.backward_input(dy).value;
  const Values dprobabilities =
      dropout_.apply(contracted(scope_, "dprobabilities", pairs, dcontext, state.v), pairs_shape());
  const Terms scores = scores_gradient(state.probabilities, dprobabilities);
  const Values& dscores = scores.value;
  const Values dv = contracted(scope_, "dv", to_keys, weights(state), dcontext);
  Values dq = contracted(scope_, "dq", to_queries, dscores, state.k);
  Values dk = contracted(scope_, "dk", to_keys, dscores, state.q);
  if (scope_.config().position == PositionKind::rotary) {
    rotate(scope_, dq, Turn::backward);
    rotate(scope_, dk, Turn::backward);
  }
  // A rotation leaves the size of each pair as it is, so the magnitudes serve as they are.
  q_.backward_parameters(state.x, dq, mix_keys(scope_, scores.magnitudes, absolute(state.k)));
  k_.backward_parameters(state.x, dk, mix_queries(scope_, scores.magnitudes, absolute(state.q)));
  v_.backward_parameters(state.x, dv);
  Terms dx = sum_of(sum_of(q_.backward_input(dq, asked), k_.backward_input(dk, asked)),
                    v_.backward_input(dv, asked));
  scope_.contraction("dx", dx);
  return dx;
}

}  // namespace tpc::baseline
