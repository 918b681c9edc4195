// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/embedding.hpp"

#include <cmath>
#include <utility>

namespace tpc::baseline {

namespace {

// "embedding" of "embedding.weight"; the scope itself for a table without a name of its own.
Scope place_of(const Scope& scope, const std::string& weight_name) {
  const std::size_t dot = weight_name.rfind('.');
  return dot == std::string::npos ? scope : scope.inner(weight_name.substr(0, dot));
}

}  // namespace

Embedding::Embedding(Scope scope, std::string weight_name)
    : scope_(std::move(scope)),
      weight_name_(std::move(weight_name)),
      dropout_(place_of(scope_, weight_name_), "embedding", scope_.config().dropout.embedding) {
  const std::int64_t vocab = scope_.config().vocab;
  for (const double id : scope_.input("ids", {scope_.sequence(), scope_.batch()})) {
    TPC_EXPECT(id >= 0 && id < static_cast<double>(vocab) && id == std::floor(id),
               "token id {} in a vocabulary of {}", id, vocab);
    ids_.push_back(static_cast<std::int64_t>(id));
  }
  TPC_EXPECT(
      scope_.config().position != PositionKind::learned || scope_.sequence() <= scope_.config().positions,
      "a sequence of {} with {} learned positions", scope_.sequence(), scope_.config().positions);
}

Terms Embedding::forward() const {
  const ModelConfig& config = scope_.config();
  const std::int64_t hidden = config.hidden;
  const Values& weight = scope_.input(weight_name_, {config.vocab, hidden});
  const bool learned = config.position == PositionKind::learned;
  const Values* positions = learned ? &scope_.input("positions.weight", {config.positions, hidden}) : nullptr;

  Terms y;
  for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
    const std::int64_t position = t / scope_.batch();
    for (std::int64_t h = 0; h < hidden; ++h) {
      const double word = weight[ids_[t] * hidden + h];
      const double place = positions == nullptr ? 0 : (*positions)[position * hidden + h];
      y.value.push_back(word + place);
      y.magnitudes.push_back(std::fabs(word) + std::fabs(place));
    }
  }
  if (scope_.accounts()) {
    y.unit = lowest_bit(weight);
    if (positions != nullptr) y.unit = std::min(y.unit, lowest_bit(*positions));
    scope_.contraction("embedding.y", y);
  }
  return dropout_.apply(std::move(y), shape());
}

Values Embedding::backward_dropout(Values dy) const { return dropout_.apply(std::move(dy), shape()); }

void Embedding::backward_positions(const Values& dy) const {
  const ModelConfig& config = scope_.config();
  if (config.position != PositionKind::learned) return;
  Values sum(config.positions * config.hidden);
  Values magnitudes(sum.size());
  const std::int64_t row = scope_.batch() * config.hidden;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(dy.size()); ++i) {
    const std::int64_t element = i / row * config.hidden + i % config.hidden;
    sum[element] += dy[i];
    magnitudes[element] += std::fabs(dy[i]);
  }
  const Scale scale(magnitudes);
  scope_.contraction("grad.positions.weight", scale.max(), scope_.unit(dy));
  scope_.gradient("positions.weight", {config.positions, config.hidden}, std::move(sum), scale);
}

void Embedding::add_weight_gradient(const Values& dy, Values& gradient) const {
  const std::int64_t hidden = scope_.config().hidden;
  for (std::int64_t t = 0; t < scope_.tokens(); ++t)
    for (std::int64_t h = 0; h < hidden; ++h) gradient[ids_[t] * hidden + h] += dy[t * hidden + h];
}

FillRows Embedding::weight_gradient_magnitudes(const Values& dy) const {
  return [this, &dy](std::int64_t first, std::int64_t count, Values& part) {
    const std::int64_t hidden = scope_.config().hidden;
    for (std::int64_t t = 0; t < scope_.tokens(); ++t) {
      const std::int64_t row = ids_[t] - first;
      if (row < 0 || row >= count) continue;
      for (std::int64_t h = 0; h < hidden; ++h) part[row * hidden + h] += std::fabs(dy[t * hidden + h]);
    }
  };
}

void Embedding::backward(const Values& dy) const {
  const ModelConfig& config = scope_.config();
  backward_positions(dy);
  Values gradient(config.vocab * config.hidden);
  add_weight_gradient(dy, gradient);
  const Scale scale = scale_of_rows(config.vocab, config.hidden, weight_gradient_magnitudes(dy));
  scope_.contraction("grad." + weight_name_, scale.max(), scope_.unit(dy));
  scope_.gradient(weight_name_, {config.vocab, config.hidden}, std::move(gradient), scale);
}

}  // namespace tpc::baseline
