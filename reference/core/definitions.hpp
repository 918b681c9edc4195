// SPDX-License-Identifier: Apache-2.0
// What a transformer computes, free of how it is sharded. Whatever the field leaves ambiguous is a member
// here and never implied; reference/DEFINITIONS.md gives each formula with its public source.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/core/words.hpp"

namespace tpc {

enum class Operation {
  column_linear,        // x [S,B,H] -> y [S,B,F]; weight [F,H], bias [F]
  row_linear,           // x [S,B,F] -> y [S,B,H]; weight [H,F], bias [H]
  mlp,                  // x, y [S,B,H]
  attention,            // x, y [S,B,H], self-attention with its four projections
  layer_norm,           // x, y [S,B,H]
  rms_norm,             // x, y [S,B,H]
  vocab_embedding,      // ids [S,B] -> y [S,B,H], with learned positions where the model has them
  vocab_cross_entropy,  // logits [S,B,V], targets [S,B] -> loss
  transformer_layer,    // x, y [S,B,H]: pre-norm block with both residuals
  model,                // ids, targets [S,B] -> loss
  dropout,              // ones -> what every dropout site of a model makes of them
  init,                 // the initial parameters of a model
  train,                // steps of an optimizer on a model
};
constexpr auto words(Operation) {
  return spelling("column_linear", "row_linear", "mlp", "attention", "layer_norm", "rms_norm",
                  "vocab_embedding", "vocab_cross_entropy", "transformer_layer", "model", "dropout", "init",
                  "train");
}

enum class NormKind { layer_norm, rms_norm };
constexpr auto words(NormKind) { return spelling("layer_norm", "rms_norm"); }
enum class MlpKind { gelu, swiglu };
constexpr auto words(MlpKind) { return spelling("gelu", "swiglu"); }
enum class GeluForm { erf, tanh };
constexpr auto words(GeluForm) { return spelling("erf", "tanh"); }
enum class PositionKind { none, learned, rotary };
constexpr auto words(PositionKind) { return spelling("none", "learned", "rotary"); }
enum class RotaryForm { halves, interleaved };
constexpr auto words(RotaryForm) { return spelling("halves", "interleaved"); }
enum class SmoothingOver { all_classes, other_classes };
constexpr auto words(SmoothingOver) { return spelling("all_classes", "other_classes"); }
enum class LossMean { valid_tokens, all_tokens };
constexpr auto words(LossMean) { return spelling("valid_tokens", "all_tokens"); }

// Llama 3 stretches the low rotary frequencies (rope_type "llama3" of the published config.json).
struct RotaryScaling {
  double factor = 1;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  double original_positions = 8192;
  bool operator==(const RotaryScaling&) const = default;
};

struct LossDefinition {
  double label_smoothing = 0;
  SmoothingOver smoothing_over = SmoothingOver::all_classes;
  double z_loss = 0;  // weight of the squared log-sum-exp
  LossMean mean_over = LossMean::valid_tokens;
  std::int64_t ignore_index = -100;
  bool operator==(const LossDefinition&) const = default;
};

// Probabilities with which an element is dropped in training: of the embedding's output, of the attention's
// probabilities, and of what the attention and the mlp add to the residual. What is kept is scaled by
// 1/(1-p).
struct DropoutRates {
  double embedding = 0;
  double attention = 0;
  double hidden = 0;
  bool operator==(const DropoutRates&) const = default;
};

struct ModelConfig {
  std::int64_t layers = 1;
  std::int64_t hidden = 0;     // H
  std::int64_t heads = 1;      // A
  std::int64_t kv_heads = 1;   // K, divides A
  std::int64_t head_dim = 0;   // D
  std::int64_t ffn = 0;        // F
  std::int64_t vocab = 0;      // V
  std::int64_t positions = 0;  // rows of the learned position table

  NormKind norm = NormKind::layer_norm;
  double norm_eps = 1e-5;
  MlpKind mlp = MlpKind::gelu;
  GeluForm gelu = GeluForm::tanh;
  PositionKind position = PositionKind::learned;
  RotaryForm rotary = RotaryForm::halves;
  double rotary_theta = 10000;
  std::optional<RotaryScaling> rotary_scaling;
  bool causal = true;
  std::optional<double> attention_scale;  // 1/sqrt(D) where not given
  bool qkv_bias = true;
  bool out_bias = true;  // of the attention's output projection
  bool mlp_bias = true;  // also the bias of a single column or row linear
  bool tied_head = true;
  LossDefinition loss;
  DropoutRates dropout;

  bool operator==(const ModelConfig&) const = default;
};

// The share q of the target class and q_other of each other class in the smoothed target distribution.
struct SmoothedTarget {
  double target;
  double other;
};
SmoothedTarget smoothed_target(const LossDefinition& loss, std::int64_t vocab);

double attention_scale(const ModelConfig& config);

Operation operation_named(std::string_view name);  // throws UsageError

}  // namespace tpc
