// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/norm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tpc::baseline {

namespace {

struct RowSum {
  double value = 0;
  double magnitude = 0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

}  // namespace

void Norm::normalise(const Values& x, State& state) const {
  const std::int64_t hidden = scope_.config().hidden;
  const auto width = static_cast<double>(hidden);
  state.normalised = x;
  state.rstd.resize(scope_.tokens());
  Values sums;
  Values means;
  Values squares;
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    double* row = state.normalised.data() + t * hidden;
    if (kind_ == NormKind::layer_norm) {
      RowSum sum;
      for (std::int64_t h = 0; h < hidden; ++h) sum.add(row[h]);
      const double mean = sum.value / width;
      for (std::int64_t h = 0; h < hidden; ++h) row[h] -= mean;
      sums.push_back(sum.magnitude);
      means.push_back(mean);
    }
    double square = 0;
    for (std::int64_t h = 0; h < hidden; ++h) square += row[h] * row[h];
    squares.push_back(square);
  }
  const double centred_unit = scope_.unit(state.normalised);
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    state.rstd[t] = 1 / std::sqrt(squares[t] / width + scope_.config().norm_eps);
    for (std::int64_t h = 0; h < hidden; ++h) state.normalised[t * hidden + h] *= state.rstd[t];
  }
  scope_.contraction("statistics.sum", Scale(sums).max(), scope_.unit(x));
  scope_.contraction("statistics.sum_of_squares", Scale(squares).max(), centred_unit * centred_unit);
  scope_.stored("statistics.mean", means);
  scope_.stored("statistics.rstd", state.rstd);
  scope_.stored("statistics.normalised", state.normalised);
}

Terms Norm::forward(const Values& x, State& state, Magnitudes asked) const {
  const std::int64_t hidden = scope_.config().hidden;
  const Values& gain = scope_.input("gain", {hidden});
  const Values bias = kind_ == NormKind::layer_norm ? scope_.input("bias", {hidden}) : Values(hidden);
  normalise(x, state);

  Terms y;
  y.value.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y.value[i] = state.normalised[i] * gain[i % hidden] + bias[i % hidden];
  if (scope_.needs(asked)) {
    y.magnitudes.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      y.magnitudes[i] = std::fabs(state.normalised[i] * gain[i % hidden]) + std::fabs(bias[i % hidden]);
  }
  y.unit = std::min(scope_.unit(state.normalised) * scope_.unit(gain), scope_.unit(bias));
  scope_.contraction("y", y);
  return y;
}

void Norm::parameter_gradients(const Values& dy, const State& state) const {
  const std::int64_t hidden = scope_.config().hidden;
  std::vector<RowSum> gain(hidden);
  std::vector<RowSum> bias(hidden);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    gain[i % hidden].add(dy[i] * state.normalised[i]);
    bias[i % hidden].add(dy[i]);
  }
  const auto file = [&](const std::string& name, const std::vector<RowSum>& sums, double unit) {
    Values value(hidden);
    Values magnitudes(hidden);
    for (std::int64_t h = 0; h < hidden; ++h) {
      value[h] = sums[h].value;
      magnitudes[h] = sums[h].magnitude;
    }
    const Scale scale(magnitudes);
    scope_.contraction("grad." + name, scale.max(), unit);
    scope_.gradient(name, {hidden}, std::move(value), scale);
  };
  file("gain", gain, scope_.unit(dy) * scope_.unit(state.normalised));
  if (kind_ == NormKind::layer_norm) file("bias", bias, scope_.unit(dy));
}

// dx = r·(g - mean(g) - x̂·mean(g ⊙ x̂)) with g = dy ⊙ gain; rms_norm has no mean(g).
Terms Norm::backward(const Values& dy, const State& state, Magnitudes asked) const {
  parameter_gradients(dy, state);
  const std::int64_t hidden = scope_.config().hidden;
  const auto width = static_cast<double>(hidden);
  const Values& gain = scope_.input("gain", {hidden});
  Terms dx;
  dx.value.resize(dy.size());
  if (scope_.needs(asked)) dx.magnitudes.resize(dy.size());
  Scale sums;
  Scale dots;
  Values g(hidden);
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    const double* normalised = state.normalised.data() + t * hidden;
    RowSum sum;
    RowSum dot;
    for (std::int64_t h = 0; h < hidden; ++h) {
      g[h] = dy[t * hidden + h] * gain[h];
      if (kind_ == NormKind::layer_norm) sum.add(g[h]);
      dot.add(g[h] * normalised[h]);
    }
    sums.add({sum.magnitude});
    dots.add({dot.magnitude});
    for (std::int64_t h = 0; h < hidden; ++h) {
      dx.value[t * hidden + h] =
          state.rstd[t] * (g[h] - sum.value / width - normalised[h] * dot.value / width);
      if (!dx.magnitudes.empty())
        dx.magnitudes[t * hidden + h] = state.rstd[t] * (std::fabs(g[h]) + sum.magnitude / width +
                                                         std::fabs(normalised[h]) * dot.magnitude / width);
    }
  }
  const double g_unit = scope_.unit(dy) * scope_.unit(gain);
  scope_.contraction("statistics.sum_of_gradient", sums.max(), g_unit);
  scope_.contraction("statistics.dot_with_gradient", dots.max(), g_unit * scope_.unit(state.normalised));
  scope_.stored("dx", dx.value);
  dx.unit = scope_.unit(dx.value);
  return dx;
}

}  // namespace tpc::baseline
