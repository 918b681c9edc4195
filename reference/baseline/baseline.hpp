// SPDX-License-Identifier: Apache-2.0
// The single-device answer: one process, f64, readable against reference/DEFINITIONS.md. It shares no layer
// code with the sharded layers; of the project it knows core/ alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference/core/definitions.hpp"
#include "reference/core/tensor.hpp"

namespace tpc::baseline {

// Row-major f64. Ids and targets are whole numbers.
struct Dense {
  Shape shape;
  std::vector<double> values;
};

// A tensor with its scale: per element, the sum of the absolute values of the terms of its last contraction
// (the absolute value itself where there is none). The scale's norm and maximum are what tolerances are made
// of.
struct Answer {
  Dense value;
  double scale_norm = 0;  // Euclidean
  double scale_max = 0;
};

// One contraction inside the computation, for the exact tier: the largest sum of magnitudes of its terms, in
// units of the largest power of two that divides every term. At most 2^53, 2^24, 2^8 keeps f64, f32, bf16
// exact in any order. Values that are stored without being a sum are held to the same limit, each in units of
// its own lowest bit; one of more than 40 bits must have been rounded and counts as infinite. What every
// implementation keeps in f32 or better, whatever the dtype, carries "statistics." in its name.
struct Contraction {
  std::string name;
  double quanta = 0;
};

using Inputs = std::map<std::string, Dense>;

struct Solution {
  std::map<std::string, Answer> answers;
  std::vector<Contraction> contractions;  // only where asked for
};

enum class Account { answers_only, contractions_too };

// Inputs by operation (shapes in core/definitions.hpp), parameters by their canonical names. Without dy or
// dloss only the forward pass is answered.
//   column_linear        x, dy; weight [F,H], and bias [F] where config.mlp_bias
//   row_linear           x, dy; weight [H,F], and bias [H] where config.mlp_bias
//   mlp                  x, dy; gelu: fc1.weight [F,H], fc2.weight [H,F];
//                        swiglu: gate.weight, up.weight [F,H], down.weight [H,F];
//                        fc1.bias, ... where config.mlp_bias
//   attention            x, dy; q.weight [A·D,H], k.weight, v.weight [K·D,H], out.weight [H,A·D];
//                        q.bias, k.bias, v.bias where config.qkv_bias, out.bias where config.out_bias
//   layer_norm           x, dy; gain [H], bias [H]
//   rms_norm             x, dy; gain [H]
//   vocab_embedding      ids, dy; weight [V,H], and positions.weight [positions,H] where learned
//   vocab_cross_entropy  logits [S,B,V], targets, dloss [1]
//   transformer_layer    x, dy; norm1.*, attention.*, norm2.*, mlp.*
//   model                ids, targets, dloss; embedding.weight, positions.weight, blocks.N.*, final_norm.*,
//                        and head.weight [V,H] where not tied
// Masks of dropout are inputs, whole numbers 0 (dropped) and 1; where one is missing nothing is dropped,
// whatever the rate. By the layer that they belong to:
//   attention            mask.attention_probabilities [B,A,S,S]
//   transformer_layer    attention.mask.attention_probabilities, attention.mask.attention_output [S,B,H],
//                        mlp.mask.mlp_output [S,B,H]
//   vocab_embedding      mask.embedding [S,B,H]; in a model embedding.mask.embedding
// Answers: y and dx (layers); y (embedding); loss [1], token_loss [S,B], dlogits (cross entropy); loss,
// token_loss (model); grad.<parameter> for every parameter.
Solution solve(Operation operation, const ModelConfig& config, const Inputs& inputs,
               Account account = Account::answers_only);

}  // namespace tpc::baseline
