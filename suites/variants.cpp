// SPDX-License-Identifier: Apache-2.0
#include "suites/variants.hpp"

namespace tpc {

namespace {

using SP = SequenceParallel;
const std::vector<SP> off_only = {SP::off};
const std::vector<SP> off_and_kept = {SP::off, SP::kept};
const std::vector<SP> all_modes = {SP::off, SP::kept, SP::regathered};
constexpr std::int64_t padded_to = 120;

Variant plain(Operation operation, const char* tag, const ModelConfig& config, const std::vector<SP>& modes) {
  Variant v;
  v.operation = operation;
  v.tag = tag;
  v.config = config;
  v.sharding.padded_vocab = padded_to;
  v.tiers = tiers_of(operation);
  v.modes = modes;
  return v;
}

Variant further(Operation operation, const char* tag, const char* suffix, const ModelConfig& config,
                const std::vector<SP>& modes) {
  Variant v = plain(operation, tag, config, modes);
  v.suffix = suffix;
  v.tp = {2, 3, 8};  // an even, an odd and the largest degree; the plain forms have them all
  v.tiers = {Tier::f64};
  return v;
}

template <class F>
ModelConfig changed(ModelConfig config, F&& change) {
  change(config);
  return config;
}

template <class F>
Variant changed(Variant variant, F&& change) {
  change(variant);
  return variant;
}

void own_entries(Variant& v) {
  v.sharding.fused = false;
  v.sharding.own_entries = true;
}

std::vector<Variant> linear_variants() {
  const ModelConfig gpt2 = gpt2_style();
  const ModelConfig nobias = changed(gpt2, [](ModelConfig& c) { c.mlp_bias = false; });
  // A hidden size that nothing divides, three sequences of five tokens.
  const auto odd = [](Variant& v) {
    v.config.hidden = 17;
    v.batch = 3;
    v.sequence = 5;
  };
  const auto one_token = [](Variant& v) { v.batch = v.sequence = 1; };
  const auto column = Operation::column_linear;
  const auto row = Operation::row_linear;
  return {
      further(column, "column_linear", "nobias", nobias, off_and_kept),
      changed(further(column, "column_linear", "gathered", gpt2, off_and_kept),
              [](Variant& v) { v.sharding.gather_output = true; }),
      changed(further(column, "column_linear", "odd", gpt2, off_only), odd),
      changed(further(column, "column_linear", "one_token", gpt2, off_only), one_token),
      further(row, "row_linear", "nobias", nobias, off_and_kept),
      changed(further(row, "row_linear", "whole_input", gpt2, off_and_kept),
              [](Variant& v) { v.sharding.input_is_split = false; }),
      changed(further(row, "row_linear", "odd", gpt2, off_only), odd),
      changed(further(row, "row_linear", "one_token", gpt2, off_only), one_token),
  };
}

std::vector<Variant> mlp_variants() {
  const auto op = Operation::mlp;
  const ModelConfig erf = changed(gpt2_style(), [](ModelConfig& c) { c.gelu = GeluForm::erf; });
  const ModelConfig nobias = changed(gpt2_style(), [](ModelConfig& c) { c.mlp_bias = false; });
  const ModelConfig swiglu_bias = changed(llama_style(), [](ModelConfig& c) { c.mlp_bias = true; });
  return {
      further(op, "mlp_gelu", "erf", erf, off_and_kept),
      further(op, "mlp_gelu", "nobias", nobias, off_and_kept),
      further(op, "mlp_swiglu", "bias", swiglu_bias, all_modes),
      changed(further(op, "mlp_swiglu", "unfused", llama_style(), all_modes),
              [](Variant& v) { v.sharding.fused = false; }),
      changed(further(op, "mlp_swiglu", "own_entries", llama_style(), off_only), own_entries),
      changed(further(op, "mlp_gelu", "row_first", gpt2_style(), off_only),
              [](Variant& v) { v.sharding.mlp_order = MlpOrder::row_first; }),
  };
}

Variant attention(const char* suffix, const ModelConfig& config, const std::vector<SP>& modes,
                  const std::vector<int>& tp) {
  Variant v = further(Operation::attention, "attention", suffix, config, modes);
  v.tp = tp;
  return v;
}

ModelConfig with_kv_heads(ModelConfig config, std::int64_t kv_heads) {
  config.kv_heads = kv_heads;
  return config;
}

std::vector<Variant> attention_variants() {
  const std::vector<int> every = {2, 3, 8};
  const ModelConfig gpt2 = gpt2_style();
  const ModelConfig rotary = changed(llama_style(), [](ModelConfig& c) { c.kv_heads = c.heads; });
  const ModelConfig interleaved = changed(rotary, [](ModelConfig& c) { c.rotary = RotaryForm::interleaved; });
  const ModelConfig stretched = changed(rotary, [](ModelConfig& c) {
    c.rotary_scaling = RotaryScaling{8, 1, 4, 64};
  });
  const ModelConfig open = changed(gpt2, [](ModelConfig& c) { c.causal = false; });
  const ModelConfig scaled = changed(gpt2, [](ModelConfig& c) { c.attention_scale = 0.125; });
  const ModelConfig nobias = changed(gpt2, [](ModelConfig& c) { c.qkv_bias = c.out_bias = false; });
  const ModelConfig narrow = changed(gpt2, [](ModelConfig& c) { c.hidden = 72; });
  const auto unfused = [](Variant& v) { v.sharding.fused = false; };
  return {
      attention("rotary", rotary, all_modes, every),
      attention("rotary_interleaved", interleaved, off_and_kept, every),
      attention("rotary_llama3", stretched, off_only, every),
      attention("noncausal", open, off_only, every),
      attention("scale", scaled, off_only, {2, 4}),
      attention("nobias", nobias, off_and_kept, every),
      attention("hidden_is_not_heads", narrow, off_only, every),
      changed(attention("unfused", gpt2, all_modes, every), unfused),
      changed(attention("own_entries", gpt2, off_only, every), own_entries),
      attention("gqa6", with_kv_heads(gpt2, 6), all_modes, {2, 3, 6}),
      attention("gqa4", with_kv_heads(gpt2, 4), all_modes, {2, 4, 8}),
      attention("gqa3", with_kv_heads(gpt2, 3), off_and_kept, {3, 6}),
      attention("gqa2", with_kv_heads(gpt2, 2), all_modes, {2, 4, 6}),
      changed(attention("mqa", with_kv_heads(gpt2, 1), all_modes, {3, 4, 8}),
              [](Variant& v) {
                v.tiers = {Tier::f64, Tier::f32, Tier::bf16};
              }),
      changed(attention("mqa_unfused", with_kv_heads(gpt2, 1), off_and_kept, {2, 3, 8}), unfused),
      attention("mqa_rotary", with_kv_heads(rotary, 1), off_and_kept, every),
      // One key to look at: the gradients of q and k are zero in theory, and are judged by their terms.
      changed(attention("one_token", gpt2, off_only, every), [](Variant& v) { v.sequence = 1; }),
  };
}

std::vector<Variant> embedding_and_norm_variants() {
  const ModelConfig plain_positions =
      changed(gpt2_style(), [](ModelConfig& c) { c.position = PositionKind::none; });
  const ModelConfig even_vocab = changed(gpt2_style(), [](ModelConfig& c) { c.vocab = padded_to; });
  const ModelConfig wide_eps = changed(gpt2_style(), [](ModelConfig& c) { c.norm_eps = 0.25; });
  const ModelConfig odd = changed(gpt2_style(), [](ModelConfig& c) { c.hidden = 41; });
  const auto unpadded = [](Variant& v) { v.sharding.padded_vocab = 0; };
  return {
      further(Operation::vocab_embedding, "vocab_embedding", "no_positions", plain_positions, off_and_kept),
      changed(further(Operation::vocab_embedding, "vocab_embedding", "unpadded", even_vocab, off_and_kept),
              unpadded),
      further(Operation::layer_norm, "layer_norm", "wide_eps", wide_eps, off_and_kept),
      further(Operation::layer_norm, "layer_norm", "odd", odd, off_and_kept),
      further(Operation::rms_norm, "rms_norm", "wide_eps", wide_eps, off_and_kept),
      further(Operation::rms_norm, "rms_norm", "odd", odd, off_and_kept),
  };
}

std::vector<Variant> whole_variants() {
  const auto block = Operation::transformer_layer;
  const auto model = Operation::model;
  const ModelConfig smoothed = changed(gpt2_style(), [](ModelConfig& c) {
    c.loss.label_smoothing = 0.1;
    c.loss.z_loss = 0x1p-10;
  });
  const ModelConfig untied = changed(gpt2_style(), [](ModelConfig& c) { c.tied_head = false; });
  return {
      further(block, "transformer_layer_qwen", "", qwen_style(), all_modes),
      further(block, "transformer_layer_gpt2", "mqa", with_kv_heads(gpt2_style(), 1), all_modes),
      changed(further(block, "transformer_layer_gpt2", "unfused", gpt2_style(), all_modes),
              [](Variant& v) { v.sharding.fused = false; }),
      further(model, "model_qwen", "", qwen_style(), off_and_kept),
      further(model, "model_gpt2", "untied", untied, off_and_kept),
      further(model, "model_gpt2", "smoothed", smoothed, off_and_kept),
  };
}

}  // namespace

ModelConfig gpt2_style() {
  ModelConfig c;
  c.layers = 2;
  c.hidden = 96;
  c.heads = 24;
  c.kv_heads = 24;
  c.head_dim = 4;
  c.ffn = 192;
  c.vocab = 100;
  c.positions = 32;
  return c;
}

ModelConfig llama_style() {
  ModelConfig c = gpt2_style();
  c.norm = NormKind::rms_norm;
  c.mlp = MlpKind::swiglu;
  c.position = PositionKind::rotary;
  c.positions = 0;
  c.kv_heads = 24;
  c.qkv_bias = c.out_bias = c.mlp_bias = false;
  c.tied_head = false;
  return c;
}

ModelConfig qwen_style() {
  ModelConfig c = llama_style();
  c.kv_heads = 1;
  c.qkv_bias = true;
  c.tied_head = true;
  c.norm_eps = 1e-6;
  return c;
}

std::vector<Tier> tiers_of(Operation operation) {
  if (operation == Operation::transformer_layer || operation == Operation::model)
    return {Tier::f64, Tier::f32, Tier::bf16};
  return {Tier::exact, Tier::f64, Tier::f32, Tier::bf16};
}

std::vector<Variant> plain_variants() {
  const ModelConfig gpt2 = gpt2_style();
  const ModelConfig llama = llama_style();
  return {
      plain(Operation::column_linear, "column_linear", gpt2, all_modes),
      plain(Operation::row_linear, "row_linear", gpt2, off_and_kept),
      plain(Operation::mlp, "mlp_gelu", gpt2, all_modes),
      plain(Operation::mlp, "mlp_swiglu", llama, all_modes),
      plain(Operation::attention, "attention", gpt2, all_modes),
      plain(Operation::layer_norm, "layer_norm", gpt2, off_and_kept),
      plain(Operation::rms_norm, "rms_norm", gpt2, off_and_kept),
      plain(Operation::vocab_embedding, "vocab_embedding", gpt2, off_and_kept),
      plain(Operation::transformer_layer, "transformer_layer_gpt2", gpt2, all_modes),
      plain(Operation::transformer_layer, "transformer_layer_llama", llama, all_modes),
      plain(Operation::model, "model_gpt2", gpt2, all_modes),
      plain(Operation::model, "model_llama", llama, all_modes),
  };
}

std::vector<Variant> further_variants() {
  std::vector<Variant> all;
  for (const auto& list : {linear_variants(), mlp_variants(), attention_variants(),
                           embedding_and_norm_variants(), whole_variants()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<Variant> overlap_variants() {
  const std::vector<SP> with_sp = {SP::kept, SP::regathered};
  const auto in_chunks = [&](Operation operation, const char* tag, const ModelConfig& config, int chunks) {
    Variant v = further(operation, tag, chunks == 2 ? "overlap2" : "overlap5", config, with_sp);
    v.sharding.overlap_chunks = chunks;
    return v;
  };
  const auto in_all_tiers = [](Variant v) {
    v.tiers = tiers_of(v.operation);
    v.tp = {2, 8};
    v.modes = {SP::kept};
    return v;
  };
  const ModelConfig gpt2 = gpt2_style();
  const ModelConfig llama = llama_style();
  Variant column = in_chunks(Operation::column_linear, "column_linear", gpt2, 2);
  Variant row = in_chunks(Operation::row_linear, "row_linear", gpt2, 2);
  row.modes = {SP::kept};
  Variant gathered = column;
  gathered.suffix = "gathered_overlap2";
  gathered.sharding.gather_output = true;
  Variant unfused = in_chunks(Operation::mlp, "mlp_swiglu", llama, 2);
  unfused.suffix = "unfused_overlap2";
  unfused.sharding.fused = false;
  return {in_all_tiers(column),
          in_all_tiers(row),
          gathered,
          in_all_tiers(in_chunks(Operation::mlp, "mlp_gelu", gpt2, 2)),
          unfused,
          in_chunks(Operation::attention, "attention", gpt2, 5),
          in_all_tiers(in_chunks(Operation::transformer_layer, "transformer_layer_gpt2", gpt2, 2)),
          in_chunks(Operation::transformer_layer, "transformer_layer_llama", llama, 5),
          in_chunks(Operation::model, "model_llama", llama, 2)};
}

std::vector<Variant> loss_variants() {
  const auto op = Operation::vocab_cross_entropy;
  const auto with = [&](const char* suffix, auto change) {
    return further(op, "vocab_cross_entropy", suffix, changed(gpt2_style(), change), off_only);
  };
  const auto smooth = [](ModelConfig& c) { c.loss.label_smoothing = 0.1; };
  const auto smooth_other = [](ModelConfig& c) {
    c.loss.label_smoothing = 0.1;
    c.loss.smoothing_over = SmoothingOver::other_classes;
  };
  const auto all_tokens = [](ModelConfig& c) { c.loss.mean_over = LossMean::all_tokens; };
  const auto everything = [](ModelConfig& c) {
    c.loss = {0.2, SmoothingOver::other_classes, 0x1p-10, LossMean::all_tokens, -1};
  };
  const Variant base = plain(op, "vocab_cross_entropy", gpt2_style(), off_only);
  const Variant even = changed(with("unpadded", [](ModelConfig& c) { c.vocab = padded_to; }),
                               [](Variant& v) { v.sharding.padded_vocab = 0; });
  const auto in_all_dtypes = [](Variant v) {
    v.tiers = {Tier::f64, Tier::f32, Tier::bf16};
    return v;
  };
  return {base, in_all_dtypes(with("smoothed", smooth)), in_all_dtypes(with("smoothed_other", smooth_other)),
          in_all_dtypes(with("z_loss", [](ModelConfig& c) { c.loss.z_loss = 0x1p-8; })),
          with("mean_over_all", all_tokens), with("everything", everything), even,
          // Half of the targets, the first among them: no token may lend its weight to the others.
          changed(with("first_ignored", [](ModelConfig&) {}), [](Variant& v) { v.ignored = 0.5; }),
          changed(with("one_token", [](ModelConfig&) {}), [](Variant& v) { v.batch = v.sequence = 1; })};
}

}  // namespace tpc
