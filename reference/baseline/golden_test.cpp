// SPDX-License-Identifier: Apache-2.0
// The answers against those of golden/make_goldens.py: values, and the scales that golden_tolerances are made
// of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "reference/baseline/sample.hpp"

namespace tpc::baseline {
namespace {

constexpr double golden_tolerance = 1e-12;

struct Golden {
  Sample sample;
  std::map<std::string, Answer> answers;
};

using Setter = std::function<void(ModelConfig&, const std::string&)>;

template <class Member>
Setter number(Member ModelConfig::*member) {
  return [member](ModelConfig& config, const std::string& text) {
    config.*member = static_cast<Member>(std::stod(text));
  };
}

template <class Enum>
Setter choice(Enum ModelConfig::*member, std::map<std::string, Enum> words) {
  return [member, words = std::move(words)](ModelConfig& config, const std::string& text) {
    config.*member = words.at(text);
  };
}

template <class Member>
Setter of_loss(Member LossDefinition::*member, std::function<Member(const std::string&)> read) {
  return [member, read](ModelConfig& config, const std::string& text) { config.loss.*member = read(text); };
}

Setter of_dropout(double DropoutRates::*member) {
  return [member](ModelConfig& config, const std::string& text) { config.dropout.*member = std::stod(text); };
}

Setter of_scaling(double RotaryScaling::*member) {
  return [member](ModelConfig& config, const std::string& text) {
    if (!config.rotary_scaling) config.rotary_scaling.emplace();
    (*config.rotary_scaling).*member = std::stod(text);
  };
}

std::map<std::string, Setter> number_setters() {
  using C = ModelConfig;
  return {{"layers", number(&C::layers)},
          {"hidden", number(&C::hidden)},
          {"heads", number(&C::heads)},
          {"kv_heads", number(&C::kv_heads)},
          {"head_dim", number(&C::head_dim)},
          {"ffn", number(&C::ffn)},
          {"vocab", number(&C::vocab)},
          {"positions", number(&C::positions)},
          {"norm_eps", number(&C::norm_eps)},
          {"rotary_theta", number(&C::rotary_theta)},
          {"causal", number(&C::causal)},
          {"qkv_bias", number(&C::qkv_bias)},
          {"out_bias", number(&C::out_bias)},
          {"mlp_bias", number(&C::mlp_bias)},
          {"tied_head", number(&C::tied_head)},
          {"attention_scale", number(&C::attention_scale)},
          {"dropout_embedding", of_dropout(&DropoutRates::embedding)},
          {"dropout_attention", of_dropout(&DropoutRates::attention)},
          {"dropout_hidden", of_dropout(&DropoutRates::hidden)},
          {"factor", of_scaling(&RotaryScaling::factor)},
          {"low_frequency_factor", of_scaling(&RotaryScaling::low_frequency_factor)},
          {"high_frequency_factor", of_scaling(&RotaryScaling::high_frequency_factor)},
          {"original_positions", of_scaling(&RotaryScaling::original_positions)}};
}

std::map<std::string, Setter> choice_setters() {
  using C = ModelConfig;
  using L = LossDefinition;
  const auto real = [](const std::string& text) { return std::stod(text); };
  const auto whole = [](const std::string& text) { return static_cast<std::int64_t>(std::stoll(text)); };
  const auto smoothing = [](const std::string& text) {
    return text == "all_classes" ? SmoothingOver::all_classes : SmoothingOver::other_classes;
  };
  const auto mean = [](const std::string& text) {
    return text == "valid_tokens" ? LossMean::valid_tokens : LossMean::all_tokens;
  };
  return {{"norm", choice<NormKind>(
                       &C::norm, {{"layer_norm", NormKind::layer_norm}, {"rms_norm", NormKind::rms_norm}})},
          {"mlp", choice<MlpKind>(&C::mlp, {{"gelu", MlpKind::gelu}, {"swiglu", MlpKind::swiglu}})},
          {"gelu", choice<GeluForm>(&C::gelu, {{"erf", GeluForm::erf}, {"tanh", GeluForm::tanh}})},
          {"position", choice<PositionKind>(&C::position, {{"none", PositionKind::none},
                                                           {"learned", PositionKind::learned},
                                                           {"rotary", PositionKind::rotary}})},
          {"rotary", choice<RotaryForm>(&C::rotary, {{"halves", RotaryForm::halves},
                                                     {"interleaved", RotaryForm::interleaved}})},
          {"label_smoothing", of_loss<double>(&L::label_smoothing, real)},
          {"z_loss", of_loss<double>(&L::z_loss, real)},
          {"ignore_index", of_loss<std::int64_t>(&L::ignore_index, whole)},
          {"smoothing_over", of_loss<SmoothingOver>(&L::smoothing_over, smoothing)},
          {"mean_over", of_loss<LossMean>(&L::mean_over, mean)}};
}

Shape read_shape(const std::string& text) {
  Shape shape;
  std::istringstream extents(text);
  for (std::string extent; std::getline(extents, extent, 'x');) shape.push_back(std::stoll(extent));
  return shape;
}

void read_line(Golden& golden, std::istringstream line, const std::map<std::string, Setter>& setters) {
  std::string kind;
  std::string name;
  std::string text;
  line >> kind >> name >> text;
  if (kind == "operation") golden.sample.operation = operation_named(name);
  if (kind == "sequence") golden.sample.sequence = std::stoll(name);
  if (kind == "batch") golden.sample.batch = std::stoll(name);
  if (kind == "config") setters.at(name)(golden.sample.config, text);
  if (kind != "answer") return;
  Answer& answer = golden.answers[name];
  answer.value.shape = read_shape(text);
  line >> answer.scale_norm >> answer.scale_max;
  for (double value = 0; line >> value;) answer.value.values.push_back(value);
}

Golden read_golden(const std::filesystem::path& file) {
  auto setters = number_setters();
  setters.merge(choice_setters());
  Golden golden;
  golden.sample.name = file.stem();
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) read_line(golden, std::istringstream(line), setters);
  return golden;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TPC_GOLDEN_DIR))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class GoldenAnswers : public testing::TestWithParam<std::string> {};

TEST_P(GoldenAnswers, AreMet) {
  const Golden golden = read_golden(std::filesystem::path(TPC_GOLDEN_DIR) / (GetParam() + ".txt"));
  const Sample& sample = golden.sample;
  const Solution solution = solve(sample.operation, sample.config, sample_inputs(sample));
  ASSERT_EQ(solution.answers.size(), golden.answers.size());
  for (const auto& [name, expected] : golden.answers) {
    ASSERT_TRUE(solution.answers.contains(name)) << name;
    const Answer& got = solution.answers.at(name);
    ASSERT_EQ(got.value.shape, expected.value.shape) << name;
    ASSERT_EQ(got.value.values.size(), expected.value.values.size()) << name;
    EXPECT_NEAR(got.scale_norm, expected.scale_norm, golden_tolerance * expected.scale_norm) << name;
    EXPECT_NEAR(got.scale_max, expected.scale_max, golden_tolerance * expected.scale_max) << name;
    for (std::size_t i = 0; i < got.value.values.size(); ++i)
      EXPECT_NEAR(got.value.values[i], expected.value.values[i], golden_tolerance * expected.scale_max)
          << name << " at element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Baseline, GoldenAnswers, testing::ValuesIn(golden_names()),
                         [](const auto& test) { return test.param; });

TEST(GoldenFiles, AreThereAndSmall) {
  EXPECT_EQ(golden_names().size(), 23U);
  std::uintmax_t bytes = 0;
  for (const auto& name : golden_names())
    bytes += std::filesystem::file_size(std::filesystem::path(TPC_GOLDEN_DIR) / (name + ".txt"));
  EXPECT_LT(bytes, 105000U);
}

}  // namespace
}  // namespace tpc::baseline
