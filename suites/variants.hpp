// SPDX-License-Identifier: Apache-2.0
// One operation with one choice of definitions and sizes, and on which meshes and in which tiers it is
// judged. A suite is a list of these; layer_cases.cpp multiplies them out.
#pragma once

#include <string>
#include <vector>

#include "harness/values/suite.hpp"

namespace tpc {

struct Variant {
  Operation operation = Operation::column_linear;
  std::string tag;     // first part of the case's name: "mlp_swiglu"
  std::string suffix;  // last part: "nobias"; empty for the operation's plain form
  ModelConfig config;
  Sharding sharding;
  std::int64_t batch = 2;
  std::int64_t sequence = 24;
  double ignored = 0.15;  // share of the targets
  std::vector<int> tp = {1, 2, 3, 4, 6, 8};
  std::vector<Tier> tiers = {Tier::f64};
  std::vector<SequenceParallel> modes;
};

// Sizes that every degree of 1, 2, 3, 4, 6 and 8 divides, a vocabulary that none of them but 1, 2 and 4 does.
ModelConfig gpt2_style();   // LayerNorm, GeLU, learned positions, biases, tied head
ModelConfig llama_style();  // RMSNorm, SwiGLU, rotary positions, grouped kv heads, no biases, untied head
ModelConfig qwen_style();   // as Llama, with biases on q, k and v and a tied head

// The plain form of every operation, in every tier that it has: the rows of the coverage table.
std::vector<Variant> plain_variants();
// Further forms, in the f64 tier: definitions, options, head groupings and odd sizes.
std::vector<Variant> further_variants();
// Products overlapped with the collectives beside them, under sequence parallelism.
std::vector<Variant> overlap_variants();
std::vector<Variant> loss_variants();

// All tiers that an operation has; blocks and models have no exact one.
std::vector<Tier> tiers_of(Operation operation);

}  // namespace tpc
