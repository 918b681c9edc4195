// SPDX-License-Identifier: Apache-2.0
#include "reference/model/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

using Json = nlohmann::json;

// The members of one object of the file. Every complaint is one line: file, key, what was expected.
class ConfigObject {
 public:
  ConfigObject(std::string file, std::string path, Json json)
      : file_(std::move(file)), path_(std::move(path)), json_(std::move(json)) {}

  [[noreturn]] void refuse(const std::string& key, const std::string& problem,
                           const std::string& expected) const {
    throw UsageError(fmt::format("{}: {}{} {}; expected {}", file_, path_, key, problem, expected));
  }

  // A key whose value is null counts as absent, as Hugging Face writes it.
  bool has(const std::string& key) const { return json_.contains(key) && !json_.at(key).is_null(); }

  std::int64_t count(const std::string& key) const {
    const std::string expected = "a positive whole number";
    const Json& value = at(key, expected);
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= largest_count);
    if (!fits || value.get<std::int64_t>() <= 0) refuse(key, "is " + shown(value), expected);
    return value.get<std::int64_t>();
  }
  std::int64_t count(const std::string& key, std::int64_t otherwise) const {
    return has(key) ? count(key) : otherwise;
  }

  double positive(const std::string& key) const {
    const std::string expected = "a positive number";
    const Json& value = at(key, expected);
    if (!value.is_number() || !(value.get<double>() > 0)) refuse(key, "is " + shown(value), expected);
    return value.get<double>();
  }
  double positive(const std::string& key, double otherwise) const {
    return has(key) ? positive(key) : otherwise;
  }

  bool flag(const std::string& key, bool otherwise) const {
    if (!has(key)) return otherwise;
    if (!json_.at(key).is_boolean()) refuse(key, "is " + shown(json_.at(key)), "true or false");
    return json_.at(key).get<bool>();
  }

  // One of `choices`; `otherwise` where absent, and required where that is empty.
  std::string word(const std::string& key, const std::vector<std::string>& choices,
                   const std::string& otherwise) const {
    if (!has(key) && !otherwise.empty()) return otherwise;
    const std::string expected =
        fmt::format("{}{}", choices.size() > 1 ? "one of " : "", fmt::join(choices, ", "));
    const Json& value = at(key, expected);
    if (!value.is_string() ||
        std::find(choices.begin(), choices.end(), value.get<std::string>()) == choices.end())
      refuse(key, "is " + shown(value), expected);
    return value.get<std::string>();
  }

  ConfigObject object(const std::string& key) const {
    if (!json_.at(key).is_object()) refuse(key, "is " + shown(json_.at(key)), "an object or null");
    return {file_, path_ + key + ".", json_.at(key)};
  }

 private:
  static constexpr auto largest_count = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

  const Json& at(const std::string& key, const std::string& expected) const {
    if (!json_.contains(key)) refuse(key, "is missing", expected);
    return json_.at(key);
  }

  static std::string shown(const Json& value) {
    const std::string text = value.dump();
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
  }

  std::string file_;
  std::string path_;  // of this object inside the file: "rope_scaling."
  Json json_;
};

std::string position_of_byte(const std::string& text, std::size_t byte) {
  const auto end =
      text.begin() + static_cast<std::ptrdiff_t>(std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = std::count(text.begin(), end, '\n') + 1;
  const auto line_start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return fmt::format("line {}, column {}", line, end - line_start + 1);
}

ConfigObject read_object(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in || std::filesystem::is_directory(file))
    throw UsageError(fmt::format("{}: cannot be read; expected a model's config.json", file.string()));
  try {
    Json json = Json::parse(text);
    if (!json.is_object())
      throw UsageError(fmt::format("{}: is no object; expected a model's config.json", file.string()));
    return {file.string(), "", std::move(json)};
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("{}: not JSON at {}; expected a model's config.json", file.string(),
                                 position_of_byte(text, error.byte)));
  }
}

void require_divides(const ConfigObject& json, const std::string& part, std::int64_t divisor,
                     const std::string& whole, std::int64_t dividend) {
  if (dividend % divisor != 0)
    json.refuse(part, fmt::format("{} does not divide {} {}", divisor, whole, dividend), "a divisor");
}

ModelConfig gpt2_config(const ConfigObject& json) {
  ModelConfig config;
  config.layers = json.count("n_layer");
  config.hidden = json.count("n_embd");
  config.heads = config.kv_heads = json.count("n_head");
  require_divides(json, "n_head", config.heads, "n_embd", config.hidden);
  config.head_dim = config.hidden / config.heads;
  config.ffn = json.count("n_inner", 4 * config.hidden);
  config.vocab = json.count("vocab_size");
  config.positions =
      json.has("n_positions") || !json.has("n_ctx") ? json.count("n_positions") : json.count("n_ctx");
  config.norm_eps = json.positive("layer_norm_epsilon", 1e-5);
  const std::string activation =
      json.word("activation_function", {"gelu_new", "gelu_pytorch_tanh", "gelu"}, "gelu_new");
  config.gelu = activation == "gelu" ? GeluForm::erf : GeluForm::tanh;
  config.tied_head = json.flag("tie_word_embeddings", true);
  if (!json.flag("scale_attn_weights", true)) config.attention_scale = 1;
  if (json.flag("scale_attn_by_inverse_layer_idx", false))
    json.refuse("scale_attn_by_inverse_layer_idx", "is true",
                "false: every layer scales its attention alike here");
  return config;
}

std::optional<RotaryScaling> rotary_scaling(const ConfigObject& json) {
  const std::string type_key = json.has("rope_type") || !json.has("type") ? "rope_type" : "type";
  if (json.word(type_key, {"llama3", "default"}, "") == "default") return std::nullopt;
  RotaryScaling scaling;
  scaling.factor = json.positive("factor");
  scaling.low_frequency_factor = json.positive("low_freq_factor");
  scaling.high_frequency_factor = json.positive("high_freq_factor");
  scaling.original_positions = json.positive("original_max_position_embeddings");
  if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
    json.refuse("high_freq_factor", fmt::format("is {}", scaling.high_frequency_factor),
                fmt::format("more than low_freq_factor {}", scaling.low_frequency_factor));
  return scaling;
}

// Newer files hold both in one object, rope_parameters.
void read_rotary(ModelConfig& config, const ConfigObject& json) {
  config.position = PositionKind::rotary;
  config.rotary = RotaryForm::halves;
  config.rotary_theta = json.positive("rope_theta", 10000);
  if (json.has("rope_scaling")) config.rotary_scaling = rotary_scaling(json.object("rope_scaling"));
  if (json.has("rope_parameters")) {
    const ConfigObject rope = json.object("rope_parameters");
    config.rotary_theta = rope.positive("rope_theta", config.rotary_theta);
    config.rotary_scaling = rotary_scaling(rope);
  }
  if (config.head_dim % 2 != 0)
    json.refuse("head_dim", fmt::format("is {}", config.head_dim),
                "an even number: rotary positions turn pairs");
}

ModelConfig llama_config(const ConfigObject& json) {
  ModelConfig config;
  config.layers = json.count("num_hidden_layers");
  config.hidden = json.count("hidden_size");
  config.heads = json.count("num_attention_heads");
  config.kv_heads = json.count("num_key_value_heads", config.heads);
  require_divides(json, "num_key_value_heads", config.kv_heads, "num_attention_heads", config.heads);
  if (!json.has("head_dim"))
    require_divides(json, "num_attention_heads", config.heads, "hidden_size", config.hidden);
  config.head_dim = json.count("head_dim", config.hidden / config.heads);
  config.ffn = json.count("intermediate_size");
  config.vocab = json.count("vocab_size");
  config.norm = NormKind::rms_norm;
  config.norm_eps = json.positive("rms_norm_eps", 1e-6);
  config.mlp = MlpKind::swiglu;
  json.word("hidden_act", {"silu"}, "silu");
  config.qkv_bias = config.out_bias = json.flag("attention_bias", false);
  config.mlp_bias = json.flag("mlp_bias", false);
  config.tied_head = json.flag("tie_word_embeddings", false);
  read_rotary(config, json);
  return config;
}

ModelConfig qwen2_config(const ConfigObject& json) {
  ModelConfig config = llama_config(json);
  config.qkv_bias = true;
  config.out_bias = false;
  config.mlp_bias = false;
  if (json.flag("use_sliding_window", false))
    json.refuse("use_sliding_window", "is true", "false: attention sees the whole sequence here");
  return config;
}

}  // namespace

NamedModel read_model_config(const std::filesystem::path& file) {
  const ConfigObject json = read_object(file);
  const std::string family = json.word("model_type", {"gpt2", "llama", "qwen2"}, "");
  NamedModel model{file.stem().string(), {}};
  if (family == "gpt2") model.config = gpt2_config(json);
  if (family == "llama") model.config = llama_config(json);
  if (family == "qwen2") model.config = qwen2_config(json);
  return model;
}

}  // namespace tpc
