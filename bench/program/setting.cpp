// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "bench/program/bench_main.hpp"
#include "harness/run/implementations.hpp"
#include "harness/values/machine/data_path.hpp"
#include "reference/model/config.hpp"

namespace tpc::bench {

namespace {

std::filesystem::path model_file(const std::string& model) {
  if (std::filesystem::exists(model)) return model;
  try {
    return data_path("models/" + model + ".json");
  } catch (const EnvironmentError&) {
    throw UsageError(fmt::format(
        "--model {}: neither a file nor a model that comes with the program (document, gpt2, gpt2-medium, "
        "llama-3.2-1b, qwen2.5-1.5b, tinyllama-1.1b)",
        model));
  }
}

// GPT-2 of the second size (Radford et al., 2019, table 2), whose heads 2, 4 and 8 divide: what is measured
// unless another model is asked for.
ModelConfig gpt2_medium() {
  ModelConfig config = read_model_config(model_file("gpt2")).config;
  config.layers = 24;
  config.hidden = 1024;
  config.heads = config.kv_heads = 16;
  config.head_dim = 64;
  config.ffn = 4096;
  return config;
}

ModelConfig model_named(const std::string& model) {
  return model == "gpt2-medium" ? gpt2_medium() : read_model_config(model_file(model)).config;
}

}  // namespace

StackShape shape_of(const BenchOptions& options) {
  const bool predicted = options.command == Command::predict;
  StackShape shape;
  ModelConfig& m = shape.model;
  m = model_named(options.model);
  m.dropout = {};  // as in evaluation: masks are no part of what is compared
  const auto take = [](std::int64_t given, std::int64_t& into) {
    if (given > 0) into = given;
  };
  take(options.hidden, m.hidden);
  take(options.heads, m.heads);
  if (options.heads > 0 && options.kv_heads == 0) m.kv_heads = m.heads;
  take(options.kv_heads, m.kv_heads);
  take(options.ffn, m.ffn);
  take(options.vocab, m.vocab);
  if (options.hidden > 0 || options.heads > 0) {
    if (m.hidden % m.heads != 0)
      throw UsageError(fmt::format("--hidden {} is no multiple of --heads {}", m.hidden, m.heads));
    m.head_dim = m.hidden / m.heads;
  }
  if (!predicted) m.layers = 1;
  take(options.layers, m.layers);
  shape.batch = predicted ? 8 : 1;
  shape.sequence = predicted ? 2048 : 256;
  take(options.batch, shape.batch);
  take(options.sequence, shape.sequence);
  shape.dtype = options.dtype;
  return shape;
}

CampaignSetting setting_of(const BenchOptions& options) {
  CampaignSetting setting;
  if (options.command == Command::collectives) setting.what = CampaignSetting::What::collectives;
  if (options.command == Command::gemm) setting.what = CampaignSetting::What::gemm;
  setting.shape = shape_of(options);
  for (const SequenceParallel sp : options.sequence_parallel) setting.forms.push_back({sp});
  for (const SequenceParallel sp : options.sequence_parallel)
    if (sp != SequenceParallel::off && options.overlap_chunks > 1)
      setting.forms.push_back({sp, options.overlap_chunks});
  setting.pass = options.pass;
  setting.tp = options.tp;
  if (!is_outside_process(options.implementation)) setting.implementation = options.implementation;
  setting.samples = options.samples;
  setting.seconds = options.seconds;
  const StackShape& s = setting.shape;
  const auto payload = s.batch * s.sequence * s.model.hidden * static_cast<std::int64_t>(size_of(s.dtype));
  setting.largest_bytes = options.command == Command::collectives ? options.largest : 2 * payload;
  return setting;
}

}  // namespace tpc::bench
