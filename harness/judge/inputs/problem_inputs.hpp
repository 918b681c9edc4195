// SPDX-License-Identifier: Apache-2.0
// The inputs of an operation: names and shapes as in baseline/baseline.hpp, each with a generator that fits
// the tier.
#pragma once

#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

enum class InputRecipe {
  gaussian,  // for tolerances: non-zero means, weights that keep activations near 1, non-zero biases
  exact      // for equality: every value that is stored or sent is a small whole number times a power of two
};

// How ids and targets come about, where the operation has them.
struct IdChoice {
  std::int64_t padded_vocab = 0;  // rows of the padded vocabulary; 0: the next multiple of each shard count
  int shards = 24;  // cover the first and last rows of as many equal shards, and of its divisors
  // Share of the targets; from a half on the first one is among them, as where a prompt is masked. The exact
  // recipe chooses its own.
  double ignored = 0.15;
  std::string text = {};  // path; empty: a hash instead of words
};

// Every input of problem.operation(), for its model, batch, sequence and dtype. A block or a model has no
// exact recipe, since the backward of a norm inside meets gradients that nobody can craft.
std::vector<InputSpec> inputs_for(const Problem& problem, InputRecipe recipe, const IdChoice& ids = {});

// Name, shape and part of each input; what both recipes start from.
struct InputSlot {
  enum class Part { x, dy, weight, bias, gain, ids, targets, logits, dloss };
  std::string name;
  std::vector<std::int64_t> shape;
  Part part = Part::x;
};
std::vector<InputSlot> input_slots(const Problem& problem);

Generator exact_generator(const Problem& problem, const InputSlot& slot);  // exact_inputs.cpp

}  // namespace tpc
