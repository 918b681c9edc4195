// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "reference/baseline/attention.hpp"
#include "reference/baseline/baseline.hpp"
#include "reference/baseline/block.hpp"
#include "reference/baseline/embedding.hpp"
#include "reference/baseline/linear.hpp"
#include "reference/baseline/loss.hpp"
#include "reference/baseline/mlp.hpp"
#include "reference/baseline/model.hpp"
#include "reference/baseline/norm.hpp"

namespace tpc::baseline {

namespace {

Shape activation_shape(const Scope& scope, std::int64_t width) {
  return {scope.sequence(), scope.batch(), width};
}

// A layer from activations to activations, with its own kind of state.
template <class L>
void solve_layer(const Scope& scope, const L& layer) {
  const Shape shape = activation_shape(scope, scope.config().hidden);
  typename L::State state;
  scope.answer("y", shape, layer.forward(scope.input("x", shape), state, Magnitudes::wanted));
  if (!scope.has("dy")) return;
  scope.answer("dx", shape, layer.backward(scope.input("dy", shape), state, Magnitudes::wanted));
}

void solve_linear(const Scope& scope, Linear::Size size) {
  const Linear linear(scope, size, scope.config().mlp_bias);
  const Shape x_shape = activation_shape(scope, size.in);
  const Shape y_shape = activation_shape(scope, size.out);
  const Values& x = scope.input("x", x_shape);
  scope.answer("y", y_shape, linear.forward(x, Magnitudes::wanted));
  if (!scope.has("dy")) return;
  const Values& dy = scope.input("dy", y_shape);
  scope.answer("dx", x_shape, linear.backward_input(dy, Magnitudes::wanted));
  linear.backward_parameters(x, dy);
}

void solve_embedding(const Scope& scope) {
  const Embedding embedding(scope, "weight");
  const Shape shape = activation_shape(scope, scope.config().hidden);
  scope.answer("y", shape, embedding.forward());
  if (scope.has("dy")) embedding.backward(embedding.backward_dropout(scope.input("dy", shape)));
}

void solve_cross_entropy(const Scope& scope) {
  const Shape shape = activation_shape(scope, scope.config().vocab);
  const Values& logits = scope.input("logits", shape);
  CrossEntropy cross_entropy(scope);
  cross_entropy.forward(logits);
  if (!scope.has("dloss")) return;
  const double dloss = scope.input("dloss", {1})[0];
  scope.answer("dlogits", shape, cross_entropy.backward(logits, dloss, Magnitudes::wanted));
}

// Sequence and batch are those of the operation's first input.
Scope::Tokens tokens_of(Operation operation, const Inputs& inputs) {
  const bool from_ids = operation == Operation::vocab_embedding || operation == Operation::model;
  const std::string first = from_ids ? "ids" : operation == Operation::vocab_cross_entropy ? "logits" : "x";
  const auto found = inputs.find(first);
  TPC_EXPECT(found != inputs.end(), "the baseline of {} lacks the input '{}'", name(operation), first);
  const Shape& shape = found->second.shape;
  TPC_EXPECT(shape.size() == (from_ids ? 2U : 3U), "the baseline's input '{}' has the shape {}", first,
             to_string(shape));
  return {shape[0], shape[1]};
}

}  // namespace

Solution solve(Operation operation, const ModelConfig& config, const Inputs& inputs, Account account) {
  Solution solution;
  const Scope scope(config, inputs, tokens_of(operation, inputs), account, solution);
  switch (operation) {
    case Operation::column_linear:
      solve_linear(scope, {config.hidden, config.ffn});
      break;
    case Operation::row_linear:
      solve_linear(scope, {config.ffn, config.hidden});
      break;
    case Operation::mlp:
      solve_layer(scope, Mlp(scope));
      break;
    case Operation::attention:
      solve_layer(scope, Attention(scope));
      break;
    case Operation::layer_norm:
      solve_layer(scope, Norm(scope, NormKind::layer_norm));
      break;
    case Operation::rms_norm:
      solve_layer(scope, Norm(scope, NormKind::rms_norm));
      break;
    case Operation::vocab_embedding:
      solve_embedding(scope);
      break;
    case Operation::vocab_cross_entropy:
      solve_cross_entropy(scope);
      break;
    case Operation::transformer_layer:
      solve_layer(scope, Block(scope));
      break;
    case Operation::model:
      solve_model(scope);
      break;
    case Operation::dropout:
    case Operation::init:
    case Operation::train:
      TPC_EXPECT(false, "the baseline of {} is no forward and backward pass", name(operation));
  }
  return solution;
}

}  // namespace tpc::baseline
