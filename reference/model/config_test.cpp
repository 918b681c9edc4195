// SPDX-License-Identifier: Apache-2.0
#include "reference/model/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "reference/core/contract.hpp"

namespace tpc {
namespace {

ModelConfig published(const std::string& name) {
  const NamedModel model = read_model_config(std::filesystem::path(TPC_MODELS_DIR) / (name + ".json"));
  EXPECT_EQ(model.name, name);
  return model.config;
}

std::filesystem::path written(const std::string& text) {
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(name.begin(), name.end(), '/', '_');
  auto file = std::filesystem::path(testing::TempDir()) / ("config_" + name + ".json");
  std::ofstream(file) << text;
  return file;
}

// The complaint about a file with this text, without the file's name; "accepted" where there is none.
std::string complaint(const std::string& text) {
  const auto file = written(text);
  try {
    read_model_config(file);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(file.string() + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message.substr(file.string().size() + 2);
  }
  return "accepted";
}

std::string gpt2_with(const std::string& members) {
  return R"({"model_type": "gpt2", "n_embd": 12, "n_head": 3, "n_layer": 2, "n_positions": 8, "vocab_size": 11)" +
         members + "}";
}

std::string llama_with(const std::string& members, const std::string& family = "llama") {
  return R"({"model_type": ")" + family +
         R"(", "hidden_size": 16, "num_attention_heads": 4, "intermediate_size": 24, "num_hidden_layers": 2,)"
         R"( "vocab_size": 11)" +
         members + "}";
}

TEST(PublishedConfig, Gpt2) {
  ModelConfig expected;
  expected.layers = 12;
  expected.hidden = 768;
  expected.heads = expected.kv_heads = 12;
  expected.head_dim = 64;
  expected.ffn = 3072;
  expected.vocab = 50257;
  expected.positions = 1024;
  expected.norm_eps = 1e-5;
  expected.gelu = GeluForm::tanh;
  EXPECT_EQ(published("gpt2"), expected);
}

ModelConfig llama_like() {
  ModelConfig config;
  config.norm = NormKind::rms_norm;
  config.mlp = MlpKind::swiglu;
  config.position = PositionKind::rotary;
  config.qkv_bias = config.out_bias = config.mlp_bias = false;
  return config;
}

TEST(PublishedConfig, Llama32) {
  ModelConfig expected = llama_like();
  expected.layers = 16;
  expected.hidden = 2048;
  expected.heads = 32;
  expected.kv_heads = 8;
  expected.head_dim = 64;
  expected.ffn = 8192;
  expected.vocab = 128256;
  expected.norm_eps = 1e-5;
  expected.rotary_theta = 500000;
  expected.rotary_scaling = RotaryScaling{
      .factor = 32, .low_frequency_factor = 1, .high_frequency_factor = 4, .original_positions = 8192};
  expected.tied_head = true;
  EXPECT_EQ(published("llama-3.2-1b"), expected);
}

TEST(PublishedConfig, TinyLlama) {
  ModelConfig expected = llama_like();
  expected.layers = 22;
  expected.hidden = 2048;
  expected.heads = 32;
  expected.kv_heads = 4;
  expected.head_dim = 64;
  expected.ffn = 5632;
  expected.vocab = 32000;
  expected.norm_eps = 1e-5;
  expected.rotary_theta = 10000;
  expected.tied_head = false;
  EXPECT_EQ(published("tinyllama-1.1b"), expected);
}

TEST(PublishedConfig, Qwen25) {
  ModelConfig expected = llama_like();
  expected.layers = 28;
  expected.hidden = 1536;
  expected.heads = 12;
  expected.kv_heads = 2;
  expected.head_dim = 128;
  expected.ffn = 8960;
  expected.vocab = 151936;
  expected.norm_eps = 1e-6;
  expected.rotary_theta = 1e6;
  expected.qkv_bias = true;
  expected.tied_head = true;
  EXPECT_EQ(published("qwen2.5-1.5b"), expected);
}

TEST(PublishedConfig, Document) {
  const ModelConfig config = published("document");
  EXPECT_EQ(config.layers, 80);
  EXPECT_EQ(config.hidden, 8192);
  EXPECT_EQ(config.heads, 64);
  EXPECT_EQ(config.head_dim, 128);
}

TEST(Gpt2Config, ReadsWhatIsOptional) {
  const ModelConfig config =
      read_model_config(written(gpt2_with(
                            R"(, "n_inner": 20, "activation_function": "gelu", "tie_word_embeddings": false,
      "scale_attn_weights": false, "layer_norm_epsilon": 0.5)")))
          .config;
  EXPECT_EQ(config.ffn, 20);
  EXPECT_EQ(config.gelu, GeluForm::erf);
  EXPECT_FALSE(config.tied_head);
  EXPECT_EQ(attention_scale(config), 1);
  EXPECT_EQ(config.norm_eps, 0.5);
  EXPECT_EQ(read_model_config(written(gpt2_with(R"(, "n_inner": null)"))).config.ffn, 48);
}

TEST(Gpt2Config, TakesNCtxWhereNPositionsIsAbsent) {
  const std::string text =
      R"({"model_type": "gpt2", "n_embd": 12, "n_head": 3, "n_layer": 2, "n_ctx": 9, "vocab_size": 11})";
  EXPECT_EQ(read_model_config(written(text)).config.positions, 9);
}

TEST(LlamaConfig, ReadsWhatIsOptional) {
  const ModelConfig plain = read_model_config(written(llama_with(""))).config;
  EXPECT_EQ(plain.kv_heads, 4);
  EXPECT_EQ(plain.head_dim, 4);
  EXPECT_EQ(plain.rotary_theta, 10000);
  EXPECT_FALSE(plain.qkv_bias || plain.out_bias || plain.mlp_bias || plain.tied_head);
  const ModelConfig full =
      read_model_config(written(llama_with(R"(, "head_dim": 6, "attention_bias": true, "mlp_bias": true)")))
          .config;
  EXPECT_EQ(full.head_dim, 6);
  EXPECT_TRUE(full.qkv_bias && full.out_bias && full.mlp_bias);
}

TEST(LlamaConfig, ReadsRopeParametersOfNewerFiles) {
  const ModelConfig plain =
      read_model_config(
          written(llama_with(R"(, "rope_parameters": {"rope_theta": 77.0, "rope_type": "default"})")))
          .config;
  EXPECT_EQ(plain.rotary_theta, 77);
  EXPECT_FALSE(plain.rotary_scaling.has_value());
  const ModelConfig scaled =
      read_model_config(written(llama_with(
                            R"(, "rope_parameters": {"rope_theta": 77.0, "rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 2, "original_max_position_embeddings": 64})")))
          .config;
  EXPECT_EQ(scaled.rotary_scaling->high_frequency_factor, 2);
}

TEST(Qwen2Config, HasBiasesOnQkvAlone) {
  const std::string text = llama_with(R"(, "attention_bias": true, "mlp_bias": true)", "qwen2");
  const ModelConfig config = read_model_config(written(text)).config;
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.out_bias || config.mlp_bias || config.tied_head);
}

struct Refused {
  const char* name;
  std::string text;
  std::string complaint;
};

class ConfigRefusal : public testing::TestWithParam<Refused> {};

TEST_P(ConfigRefusal, NamesFileKeyAndWhatWasExpected) {
  EXPECT_EQ(complaint(GetParam().text), GetParam().complaint);
}

std::vector<Refused> refused_files() {
  return {
      {"empty", "", "not JSON at line 1, column 1; expected a model's config.json"},
      {"truncated", "{\n  \"model_type\": ", "not JSON at line 2, column 17; expected a model's config.json"},
      {"comma", "{\n\"model_type\": \"gpt2\",\n}",
       "not JSON at line 3, column 1; expected a model's config.json"},
      {"array", "[1]", "is no object; expected a model's config.json"},
      {"no_family", "{}", "model_type is missing; expected one of gpt2, llama, qwen2"},
      {"family", R"({"model_type": "mamba"})",
       R"(model_type is "mamba"; expected one of gpt2, llama, qwen2)"},
      {"family_type", R"({"model_type": 3})", "model_type is 3; expected one of gpt2, llama, qwen2"}};
}

std::vector<Refused> refused_gpt2() {
  const std::string whole = "expected a positive whole number";
  return {
      {"missing", R"({"model_type": "gpt2", "n_layer": 2})", "n_embd is missing; " + whole},
      {"no_positions", R"({"model_type": "gpt2", "n_embd": 12, "n_head": 3, "n_layer": 2, "vocab_size": 11})",
       "n_positions is missing; " + whole},
      {"text", gpt2_with(R"(, "n_embd": "768")"), R"(n_embd is "768"; )" + whole},
      {"fraction", gpt2_with(R"(, "n_layer": 2.5)"), "n_layer is 2.5; " + whole},
      {"negative", gpt2_with(R"(, "n_layer": -2)"), "n_layer is -2; " + whole},
      {"zero", gpt2_with(R"(, "vocab_size": 0)"), "vocab_size is 0; " + whole},
      {"huge", gpt2_with(R"(, "vocab_size": 18446744073709551615)"),
       "vocab_size is 18446744073709551615; " + whole},
      {"null", gpt2_with(R"(, "n_head": null)"), "n_head is null; " + whole},
      {"heads", gpt2_with(R"(, "n_head": 5)"), "n_head 5 does not divide n_embd 12; expected a divisor"},
      {"activation", gpt2_with(R"(, "activation_function": "relu")"),
       R"(activation_function is "relu"; expected one of gelu_new, gelu_pytorch_tanh, gelu)"},
      {"epsilon", gpt2_with(R"(, "layer_norm_epsilon": -1e-5)"),
       "layer_norm_epsilon is -1e-05; expected a positive number"},
      {"flag", gpt2_with(R"(, "tie_word_embeddings": 1)"),
       "tie_word_embeddings is 1; expected true or false"},
      {"inverse_layer", gpt2_with(R"(, "scale_attn_by_inverse_layer_idx": true)"),
       "scale_attn_by_inverse_layer_idx is true; expected false: every layer scales its attention alike "
       "here"}};
}

std::vector<Refused> refused_llama() {
  const auto rope = [](const std::string& members) {
    return llama_with(R"(, "rope_scaling": {)" + members + "}");
  };
  return {
      {"kv_heads", llama_with(R"(, "num_key_value_heads": 3)"),
       "num_key_value_heads 3 does not divide num_attention_heads 4; expected a divisor"},
      {"more_kv_heads", llama_with(R"(, "num_key_value_heads": 8)"),
       "num_key_value_heads 8 does not divide num_attention_heads 4; expected a divisor"},
      {"llama_heads", llama_with(R"(, "num_attention_heads": 3)"),
       "num_attention_heads 3 does not divide hidden_size 16; expected a divisor"},
      {"odd_head", llama_with(R"(, "head_dim": 5)"),
       "head_dim is 5; expected an even number: rotary positions turn pairs"},
      {"hidden_act", llama_with(R"(, "hidden_act": "gelu")"), R"(hidden_act is "gelu"; expected silu)"},
      {"rope_type", rope(R"("rope_type": "yarn")"),
       R"(rope_scaling.rope_type is "yarn"; expected one of llama3, default)"},
      {"old_rope_type", rope(R"("type": "linear", "factor": 2)"),
       R"(rope_scaling.type is "linear"; expected one of llama3, default)"},
      {"no_rope_type", rope(R"("factor": 2)"),
       "rope_scaling.rope_type is missing; expected one of llama3, default"},
      {"no_factor", rope(R"("rope_type": "llama3")"),
       "rope_scaling.factor is missing; expected a positive number"},
      {"rope_order", rope(R"("rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4,
                   "original_max_position_embeddings": 64)"),
       "rope_scaling.high_freq_factor is 4; expected more than low_freq_factor 4"},
      {"rope_text", llama_with(R"(, "rope_scaling": "llama3")"),
       R"(rope_scaling is "llama3"; expected an object or null)"},
      {"window", llama_with(R"(, "use_sliding_window": true)", "qwen2"),
       "use_sliding_window is true; expected false: attention sees the whole sequence here"}};
}

INSTANTIATE_TEST_SUITE_P(File, ConfigRefusal, testing::ValuesIn(refused_files()),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Gpt2, ConfigRefusal, testing::ValuesIn(refused_gpt2()),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Llama, ConfigRefusal, testing::ValuesIn(refused_llama()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ConfigFile, ThatIsNotThereIsNamed) {
  try {
    read_model_config("no/such/config.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no/such/config.json: cannot be read; expected a model's config.json");
  }
}

}  // namespace
}  // namespace tpc
