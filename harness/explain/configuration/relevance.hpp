// SPDX-License-Identifier: Apache-2.0
// Which parts of a model an operation has: the options of those alone matter to it.
#pragma once

#include "harness/explain/configuration/configuration.hpp"

namespace tpc::relevance {

inline bool is_linear(const Configuration& c) {
  return c.problem.asks(Operation::column_linear) || c.problem.asks(Operation::row_linear);
}
inline bool is_whole(const Configuration& c) {
  using enum Operation;
  const Operation operation = c.problem.operation();
  return operation == model || operation == train || operation == dropout || operation == init;
}
inline bool has_blocks(const Configuration& c) {
  return is_whole(c) || c.problem.asks(Operation::transformer_layer);
}
inline bool has_attention(const Configuration& c) {
  return has_blocks(c) || c.problem.asks(Operation::attention);
}
inline bool has_mlp(const Configuration& c) { return has_blocks(c) || c.problem.asks(Operation::mlp); }
inline bool has_norm(const Configuration& c) {
  return has_blocks(c) || c.problem.asks(Operation::layer_norm) || c.problem.asks(Operation::rms_norm);
}
inline bool has_embedding(const Configuration& c) {
  return is_whole(c) || c.problem.asks(Operation::vocab_embedding);
}
inline bool has_loss(const Configuration& c) {
  return is_whole(c) || c.problem.asks(Operation::vocab_cross_entropy);
}
inline bool has_vocab(const Configuration& c) { return has_embedding(c) || has_loss(c); }
inline bool is_training(const Configuration& c) { return c.problem.asks(Operation::train); }
inline bool is_rotary(const Configuration& c) {
  return has_attention(c) && c.problem.model.position == PositionKind::rotary;
}
inline bool drops(const Configuration& c) {
  const DropoutRates& rates = c.problem.model.dropout;
  return (has_embedding(c) && rates.embedding > 0) || (has_attention(c) && rates.attention > 0) ||
         (has_blocks(c) && rates.hidden > 0);
}

}  // namespace tpc::relevance
