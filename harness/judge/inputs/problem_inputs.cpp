// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/problem_inputs.hpp"

#include <cmath>

namespace tpc {

namespace {

using Part = InputSlot::Part;
using Slots = std::vector<InputSlot>;

void add_linear(Slots& slots, const std::string& name, std::int64_t out, std::int64_t in, bool bias) {
  slots.push_back({name + "weight", {out, in}, Part::weight});
  if (bias) slots.push_back({name + "bias", {out}, Part::bias});
}

void add_mlp(Slots& slots, const std::string& name, const ModelConfig& c) {
  const bool gelu = c.mlp == MlpKind::gelu;
  add_linear(slots, name + (gelu ? "fc1." : "gate."), c.ffn, c.hidden, c.mlp_bias);
  if (!gelu) add_linear(slots, name + "up.", c.ffn, c.hidden, c.mlp_bias);
  add_linear(slots, name + (gelu ? "fc2." : "down."), c.hidden, c.ffn, c.mlp_bias);
}

void add_attention(Slots& slots, const std::string& name, const ModelConfig& c) {
  const std::int64_t queries = c.heads * c.head_dim;
  const std::int64_t keys = c.kv_heads * c.head_dim;
  add_linear(slots, name + "q.", queries, c.hidden, c.qkv_bias);
  add_linear(slots, name + "k.", keys, c.hidden, c.qkv_bias);
  add_linear(slots, name + "v.", keys, c.hidden, c.qkv_bias);
  add_linear(slots, name + "out.", c.hidden, queries, c.out_bias);
}

void add_norm(Slots& slots, const std::string& name, const ModelConfig& c, NormKind kind) {
  slots.push_back({name + "gain", {c.hidden}, Part::gain});
  if (kind == NormKind::layer_norm) slots.push_back({name + "bias", {c.hidden}, Part::bias});
}

void add_block(Slots& slots, const std::string& name, const ModelConfig& c) {
  add_norm(slots, name + "norm1.", c, c.norm);
  add_attention(slots, name + "attention.", c);
  add_norm(slots, name + "norm2.", c, c.norm);
  add_mlp(slots, name + "mlp.", c);
}

void add_embedding(Slots& slots, const std::string& name, const ModelConfig& c) {
  slots.push_back({name + "weight", {c.vocab, c.hidden}, Part::weight});
  if (c.position == PositionKind::learned)
    slots.push_back({"positions.weight", {c.positions, c.hidden}, Part::weight});
}

void add_model(Slots& slots, const ModelConfig& c) {
  add_embedding(slots, "embedding.", c);
  for (std::int64_t layer = 0; layer < c.layers; ++layer)
    add_block(slots, fmt::format("blocks.{}.", layer), c);
  add_norm(slots, "final_norm.", c, c.norm);
  if (!c.tied_head) slots.push_back({"head.weight", {c.vocab, c.hidden}, Part::weight});
}

void add_parameters(Slots& slots, Operation operation, const ModelConfig& c) {
  switch (operation) {
    case Operation::column_linear:
      return add_linear(slots, "", c.ffn, c.hidden, c.mlp_bias);
    case Operation::row_linear:
      return add_linear(slots, "", c.hidden, c.ffn, c.mlp_bias);
    case Operation::mlp:
      return add_mlp(slots, "", c);
    case Operation::attention:
      return add_attention(slots, "", c);
    case Operation::layer_norm:
      return add_norm(slots, "", c, NormKind::layer_norm);
    case Operation::rms_norm:
      return add_norm(slots, "", c, NormKind::rms_norm);
    case Operation::vocab_embedding:
      return add_embedding(slots, "", c);
    case Operation::vocab_cross_entropy:
      return;
    case Operation::transformer_layer:
      return add_block(slots, "", c);
    case Operation::model:
    case Operation::train:
      return add_model(slots, c);
    case Operation::dropout:
    case Operation::init:
      return;
  }
}

// A power of two near 1/sqrt(fan in): sums of fan-in products then neither grow nor shrink.
double weight_spread(const InputSlot& slot) {
  return std::exp2(std::round(-0.5 * std::log2(static_cast<double>(slot.shape.back()))));
}

Generator gaussian_generator(const InputSlot& slot) {
  const auto gaussian = [](double mean, double spread) {
    return Generator{Generator::Kind::gaussian, mean, spread};
  };
  switch (slot.part) {
    case Part::x:
    case Part::dy:
      return gaussian(0.25, 1);
    case Part::weight:
      return gaussian(weight_spread(slot) / 4, weight_spread(slot));
    case Part::bias:
      return gaussian(0.125, 0.25);
    case Part::gain:
      return gaussian(1, 0.25);
    case Part::logits:
      return gaussian(0.5, 2);
    default:
      return {Generator::Kind::constant, 0.75};
  }
}

Generator id_generator(const Problem& problem, const InputSlot& slot, const IdChoice& ids) {
  using Kind = Generator::Kind;
  const bool targets = slot.part == Part::targets;
  const Kind hashed = targets ? Kind::targets : Kind::tokens;
  const Kind words = targets ? Kind::text_targets : Kind::text_tokens;
  return {ids.text.empty() ? hashed : words,  static_cast<double>(problem.model.vocab),
          static_cast<double>(ids.shards),    targets ? ids.ignored : 0,
          static_cast<int>(ids.padded_vocab), ids.text};
}

// The mean over valid tokens is exact where their number is a power of two: the largest that leaves one out.
double ignored_share_of_exact(const Problem& problem, double otherwise) {
  if (problem.model.loss.mean_over == LossMean::all_tokens) return otherwise;
  const std::int64_t tokens = problem.batch * problem.sequence;
  std::int64_t valid = 1;
  while (valid * 2 < tokens) valid *= 2;
  return static_cast<double>(tokens - valid) / static_cast<double>(tokens);
}

}  // namespace

std::vector<InputSlot> input_slots(const Problem& problem) {
  const ModelConfig& c = problem.model;
  const auto tokens = [&](std::int64_t width) { return Shape{problem.sequence, problem.batch, width}; };
  const Shape ids = {problem.sequence, problem.batch};
  const bool row = problem.asks(Operation::row_linear);
  const bool column = problem.asks(Operation::column_linear);
  Slots slots;
  if (problem.asks(Operation::dropout) || problem.asks(Operation::init)) return slots;
  if (problem.asks(Operation::train)) {
    slots.push_back({"dloss", {1}, Part::dloss});
    for (std::int64_t step = 0; step < problem.train.steps(); ++step)
      for (const auto part : {Part::ids, Part::targets})
        slots.push_back({step_name(step, part == Part::ids ? "ids" : "targets"), ids, part});
  } else if (problem.asks(Operation::vocab_cross_entropy)) {
    slots = {{"logits", tokens(c.vocab), Part::logits}, {"targets", ids, Part::targets}};
    slots.push_back({"dloss", {1}, Part::dloss});
  } else if (problem.asks(Operation::model)) {
    slots = {{"ids", ids, Part::ids}, {"targets", ids, Part::targets}, {"dloss", {1}, Part::dloss}};
  } else if (problem.asks(Operation::vocab_embedding)) {
    slots = {{"ids", ids, Part::ids}, {"dy", tokens(c.hidden), Part::dy}};
  } else {
    slots = {{"x", tokens(row ? c.ffn : c.hidden), Part::x},
             {"dy", tokens(column ? c.ffn : c.hidden), Part::dy}};
  }
  add_parameters(slots, problem.operation(), c);
  return slots;
}

std::vector<InputSpec> inputs_for(const Problem& problem, InputRecipe recipe, const IdChoice& ids) {
  const bool exact = recipe == InputRecipe::exact;
  TPC_EXPECT(!exact || (!problem.asks(Operation::transformer_layer) && !problem.asks(Operation::model)),
             "no exact inputs exist for a {}", name(problem.operation()));
  IdChoice choice = ids;
  if (exact) choice.ignored = ignored_share_of_exact(problem, ids.ignored);
  std::vector<InputSpec> inputs;
  for (const InputSlot& slot : input_slots(problem)) {
    const bool integral = slot.part == Part::ids || slot.part == Part::targets;
    inputs.push_back({slot.name, slot.shape,
                      integral ? id_generator(problem, slot, choice)
                      : exact  ? exact_generator(problem, slot)
                               : gaussian_generator(slot)});
  }
  return inputs;
}

}  // namespace tpc
