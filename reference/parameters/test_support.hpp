// SPDX-License-Identifier: Apache-2.0
// For tests: a model's local tensors cut out of canonical ones that are functions of name
// and index.
#pragma once

#include <string>
#include <vector>

#include "reference/core/definitions.hpp"
#include "reference/core/philox.hpp"
#include "reference/parameters/gradients.hpp"
#include "reference/parameters/loading.hpp"

namespace tpc::test {

inline double canonical_value(const std::string& kind, const std::string& name, std::int64_t index) {
  return gaussian(philox(hash_name(kind + name), static_cast<std::uint64_t>(index))) + 0.25;
}

// One block of a canonical tensor in f64.
inline Tensor canonical_block(const std::string& kind, const std::string& name, const Shape& global,
                              const Block& block) {
  Tensor tensor = host_tensor(DType::f64, block.extent);
  const std::int64_t columns = global.size() > 1 ? global[1] : 1;
  const std::int64_t width = global.size() > 1 ? block.extent[1] : 1;
  const std::int64_t first = global.size() > 1 ? block.global_offset[1] : 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::int64_t row = block.global_offset[0] + i / width;
    tensor.data<double>()[i] = canonical_value(kind, name, row * columns + first + i % width);
  }
  return tensor;
}

inline const Shape& global_shape(const std::vector<ParameterSpec>& specs, const std::string& canonical) {
  for (const ParameterSpec& spec : specs)
    for (const ParameterPart& part : spec.parts)
      if (part.canonical == canonical) return part.placement.global_shape;
  throw ContractError("no parameter " + canonical);
}

inline Parameters local_tensors(Compute& compute, const std::vector<ParameterSpec>& specs,
                                const std::string& kind) {
  return load_parameters(compute, specs, DType::f64, [&](const std::string& name, const Block& block) {
    return canonical_block(kind, name, global_shape(specs, name), block);
  });
}

// Finished ones, each delivered at once.
inline Gradients local_gradients(Compute& compute, std::vector<ParameterSpec> specs,
                                 const std::string& kind) {
  for (ParameterSpec& spec : specs) spec.uses = 1;
  const Parameters tensors = local_tensors(compute, specs, kind);
  Gradients gradients(std::move(specs));
  gradients.settle_all();
  for (const auto& [name, tensor] : tensors) gradients.add(compute, name, tensor);
  return gradients;
}

// Fused and padded, with learned positions and every bias; kv heads have copies from T = 4 on.
inline ModelConfig tested_config() {
  ModelConfig config;
  config.hidden = 24;
  config.heads = 24;
  config.kv_heads = 2;
  config.head_dim = 2;
  config.ffn = 48;
  config.vocab = 22;
  config.positions = 5;
  return config;
}

}  // namespace tpc::test
