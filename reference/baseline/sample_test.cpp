// SPDX-License-Identifier: Apache-2.0
#include "reference/baseline/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tpc::baseline {

namespace {

std::int64_t name_code(const std::string& name) {
  std::int64_t code = 0;
  for (std::size_t p = 0; p < name.size(); ++p) code += static_cast<std::int64_t>(p + 1) * name[p];
  return code;
}

Dense rational(const std::string& name, Shape shape) {
  Dense dense{std::move(shape), {}};
  const double shift = name.ends_with("gain") ? 1 : 0;
  for (std::int64_t i = 0; i < element_count(dense.shape); ++i) {
    const std::int64_t residue = (31 * i * i + 17 * i + name_code(name)) % 257;
    dense.values.push_back(static_cast<double>(residue - 128) / 128 + shift);
  }
  return dense;
}

Dense mask_for(const std::string& name, Shape shape, double rate) {
  Dense dense{std::move(shape), {}};
  const auto dropped = static_cast<std::int64_t>(std::llround(257 * rate));
  for (std::int64_t i = 0; i < element_count(dense.shape); ++i)
    dense.values.push_back((31 * i * i + 17 * i + name_code(name)) % 257 >= dropped ? 1 : 0);
  return dense;
}

class InputMaker {
 public:
  explicit InputMaker(const Sample& sample) : sample_(sample), config_(sample.config) {}

  Inputs make() {
    const bool embeds = sample_.operation == Operation::vocab_embedding;
    const std::int64_t width = sample_.operation == Operation::row_linear ? config_.ffn : config_.hidden;
    const std::int64_t out = sample_.operation == Operation::column_linear ? config_.ffn : config_.hidden;
    if (sample_.operation == Operation::model || sample_.operation == Operation::vocab_cross_entropy) {
      whole("targets", true);
      add("dloss", {1});
    } else {
      if (!embeds) add("x", {sample_.sequence, sample_.batch, width});
      add("dy", {sample_.sequence, sample_.batch, out});
    }
    parameters();
    return std::move(inputs_);
  }

 private:
  void add(const std::string& name, Shape shape) { inputs_[name] = rational(name, std::move(shape)); }

  void mask(const std::string& name, const Shape& shape, double rate) {
    if (rate > 0) inputs_[name] = mask_for(name, shape, rate);
  }
  void token_mask(const std::string& name, double rate) {
    mask(name, {sample_.sequence, sample_.batch, config_.hidden}, rate);
  }

  void whole(const std::string& name, bool some_ignored) {
    Dense dense{{sample_.sequence, sample_.batch}, {}};
    for (std::int64_t i = 0; i < sample_.sequence * sample_.batch; ++i) {
      const auto id = static_cast<double>((3 * i + name_code(name)) % config_.vocab);
      const bool ignore = some_ignored && i % 4 == 1;
      dense.values.push_back(ignore ? static_cast<double>(config_.loss.ignore_index) : id);
    }
    inputs_[name] = std::move(dense);
  }

  void linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool bias) {
    add(prefix + "weight", {out, in});
    if (bias) add(prefix + "bias", {out});
  }

  void norm(const std::string& prefix, NormKind kind) {
    add(prefix + "gain", {config_.hidden});
    if (kind == NormKind::layer_norm) add(prefix + "bias", {config_.hidden});
  }

  void mlp(const std::string& prefix) {
    const bool gelu = config_.mlp == MlpKind::gelu;
    linear(prefix + (gelu ? "fc1." : "gate."), config_.ffn, config_.hidden, config_.mlp_bias);
    if (!gelu) linear(prefix + "up.", config_.ffn, config_.hidden, config_.mlp_bias);
    linear(prefix + (gelu ? "fc2." : "down."), config_.hidden, config_.ffn, config_.mlp_bias);
  }

  void attention(const std::string& prefix) {
    const std::int64_t key_width = config_.kv_heads * config_.head_dim;
    linear(prefix + "q.", config_.heads * config_.head_dim, config_.hidden, config_.qkv_bias);
    linear(prefix + "k.", key_width, config_.hidden, config_.qkv_bias);
    linear(prefix + "v.", key_width, config_.hidden, config_.qkv_bias);
    linear(prefix + "out.", config_.hidden, config_.heads * config_.head_dim, config_.out_bias);
    mask(prefix + "mask.attention_probabilities",
         {sample_.batch, config_.heads, sample_.sequence, sample_.sequence}, config_.dropout.attention);
  }

  void block(const std::string& prefix) {
    norm(prefix + "norm1.", config_.norm);
    attention(prefix + "attention.");
    norm(prefix + "norm2.", config_.norm);
    mlp(prefix + "mlp.");
    token_mask(prefix + "attention.mask.attention_output", config_.dropout.hidden);
    token_mask(prefix + "mlp.mask.mlp_output", config_.dropout.hidden);
  }

  void embedding(const std::string& prefix) {
    whole("ids", false);
    add(prefix + "weight", {config_.vocab, config_.hidden});
    if (config_.position == PositionKind::learned)
      add("positions.weight", {config_.positions, config_.hidden});
    token_mask(prefix + "mask.embedding", config_.dropout.embedding);
  }

  void model() {
    embedding("embedding.");
    for (std::int64_t i = 0; i < config_.layers; ++i) block("blocks." + std::to_string(i) + ".");
    norm("final_norm.", config_.norm);
    if (!config_.tied_head) add("head.weight", {config_.vocab, config_.hidden});
  }

  void parameters() {
    switch (sample_.operation) {
      case Operation::column_linear:
        return linear("", config_.ffn, config_.hidden, config_.mlp_bias);
      case Operation::row_linear:
        return linear("", config_.hidden, config_.ffn, config_.mlp_bias);
      case Operation::mlp:
        return mlp("");
      case Operation::attention:
        return attention("");
      case Operation::layer_norm:
        return norm("", NormKind::layer_norm);
      case Operation::rms_norm:
        return norm("", NormKind::rms_norm);
      case Operation::vocab_embedding:
        return embedding("");
      case Operation::vocab_cross_entropy:
        return add("logits", {sample_.sequence, sample_.batch, config_.vocab});
      case Operation::transformer_layer:
        return block("");
      case Operation::model:
        return model();
      case Operation::dropout:
      case Operation::init:
      case Operation::train:
        return;
    }
  }

  const Sample& sample_;
  const ModelConfig& config_;
  Inputs inputs_;
};

ModelConfig gpt2_like() {
  ModelConfig config;
  config.layers = 2;
  config.hidden = 6;
  config.heads = 2;
  config.kv_heads = 2;
  config.head_dim = 3;
  config.ffn = 5;
  config.vocab = 7;
  config.positions = 4;
  return config;
}

ModelConfig llama_like() {
  ModelConfig config = gpt2_like();
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 2;
  config.norm = NormKind::rms_norm;
  config.norm_eps = 1e-3;
  config.mlp = MlpKind::swiglu;
  config.position = PositionKind::rotary;
  config.rotary_theta = 50;
  config.qkv_bias = config.out_bias = config.mlp_bias = false;
  config.tied_head = false;
  return config;
}

// A configuration with one thing changed.
template <class F>
ModelConfig but(ModelConfig config, F change) {
  change(config);
  return config;
}

void add_linears_and_mlps(std::vector<Sample>& all) {
  const ModelConfig gpt2 = gpt2_like();
  const ModelConfig llama = llama_like();
  all.push_back({"column_linear", Operation::column_linear, gpt2});
  all.push_back({"column_linear_no_bias", Operation::column_linear, llama});
  all.push_back({"row_linear", Operation::row_linear, gpt2});
  all.push_back({"row_linear_one_token", Operation::row_linear, llama, 1, 1});
  all.push_back({"mlp_gelu_tanh", Operation::mlp, gpt2});
  all.push_back({"mlp_gelu_erf", Operation::mlp, but(gpt2, [](auto& c) { c.gelu = GeluForm::erf; })});
  all.push_back({"mlp_gelu_no_bias", Operation::mlp, but(gpt2, [](auto& c) { c.mlp_bias = false; })});
  all.push_back({"mlp_swiglu", Operation::mlp, llama});
  all.push_back({"mlp_swiglu_bias", Operation::mlp, but(llama, [](auto& c) { c.mlp_bias = true; })});
}

void add_attentions(std::vector<Sample>& all) {
  const ModelConfig gpt2 = gpt2_like();
  const ModelConfig llama = llama_like();
  all.push_back({"attention_mha", Operation::attention, gpt2});
  all.push_back({"attention_not_causal", Operation::attention, but(gpt2, [](auto& c) { c.causal = false; })});
  all.push_back(
      {"attention_scale", Operation::attention, but(gpt2, [](auto& c) { c.attention_scale = 0.75; })});
  all.push_back({"attention_gqa_halves", Operation::attention, but(llama, [](auto& c) { c.head_dim = 4; })});
  all.push_back({"attention_gqa_interleaved", Operation::attention, but(llama, [](auto& c) {
                   c.head_dim = 4;
                   c.rotary = RotaryForm::interleaved;
                 })});
  all.push_back({"attention_mqa_qkv_bias", Operation::attention, but(llama, [](auto& c) {
                   c.kv_heads = 1;
                   c.qkv_bias = true;
                 })});
  all.push_back({"attention_llama3_scaling", Operation::attention, but(llama, [](auto& c) {
                   c.head_dim = 8;
                   c.rotary_scaling = RotaryScaling{.factor = 4, .original_positions = 64};
                 })});
  all.push_back({"attention_one_token", Operation::attention, gpt2, 1, 3});
}

void add_norms_and_embeddings(std::vector<Sample>& all) {
  const ModelConfig gpt2 = gpt2_like();
  const ModelConfig llama = llama_like();
  all.push_back({"layer_norm", Operation::layer_norm, gpt2});
  all.push_back({"rms_norm", Operation::rms_norm, llama});
  all.push_back({"rms_norm_width_1", Operation::rms_norm, but(llama, [](auto& c) { c.hidden = 1; })});
  all.push_back({"vocab_embedding_learned", Operation::vocab_embedding, gpt2});
  all.push_back({"vocab_embedding", Operation::vocab_embedding, llama});
}

void add_losses(std::vector<Sample>& all) {
  const auto loss = [&](const std::string& name, const LossDefinition& definition) {
    all.push_back({"cross_entropy_" + name, Operation::vocab_cross_entropy,
                   but(gpt2_like(), [&](auto& c) { c.loss = definition; })});
  };
  loss("plain", {});
  loss("all_tokens", {.mean_over = LossMean::all_tokens, .ignore_index = 0});
  loss("smoothed_all", {.label_smoothing = 0.125});
  loss("smoothed_other", {.label_smoothing = 0.25, .smoothing_over = SmoothingOver::other_classes});
  loss("z_loss", {.z_loss = 0.0625});
  loss("everything", {.label_smoothing = 0.1, .z_loss = 0.01, .mean_over = LossMean::all_tokens});
}

void add_dropouts(std::vector<Sample>& all) {
  const auto with_dropout = [](auto& c) { c.dropout = {0.125, 0.25, 0.375}; };
  const ModelConfig gpt2 = but(gpt2_like(), with_dropout);
  const ModelConfig llama = but(llama_like(), with_dropout);
  all.push_back({"attention_dropout", Operation::attention, llama});
  all.push_back({"vocab_embedding_dropout", Operation::vocab_embedding, gpt2});
  all.push_back({"block_dropout", Operation::transformer_layer, gpt2});
  all.push_back({"model_gpt2_dropout", Operation::model, gpt2});
  all.push_back({"model_llama_dropout", Operation::model, llama});
}

void add_blocks_and_models(std::vector<Sample>& all) {
  const ModelConfig gpt2 = gpt2_like();
  const ModelConfig llama = llama_like();
  const auto qwen2 = but(llama, [](auto& c) {
    c.qkv_bias = true;
    c.tied_head = true;
    c.layers = 1;
  });
  all.push_back({"block_gpt2", Operation::transformer_layer, gpt2});
  all.push_back({"block_llama", Operation::transformer_layer, llama});
  all.push_back({"model_gpt2", Operation::model, gpt2});
  all.push_back({"model_llama", Operation::model, llama});
  all.push_back({"model_qwen2", Operation::model, qwen2});
}

}  // namespace

Inputs sample_inputs(const Sample& sample) { return InputMaker(sample).make(); }

std::vector<Sample> samples() {
  std::vector<Sample> all;
  add_linears_and_mlps(all);
  add_attentions(all);
  add_norms_and_embeddings(all);
  add_losses(all);
  add_blocks_and_models(all);
  add_dropouts(all);
  return all;
}

}  // namespace tpc::baseline
