// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "reference/core/definitions.hpp"

namespace tpc {

struct NamedModel {
  std::string name;  // the file's stem
  ModelConfig config;
};

// Reads a Hugging Face config.json of the families gpt2, llama and qwen2, as published. Throws UsageError
// that names the file, the key and what was expected.
NamedModel read_model_config(const std::filesystem::path& file);

}  // namespace tpc
