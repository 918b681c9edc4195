// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/signature.hpp"

#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/baseline/baseline.hpp"
#include "reference/core/philox.hpp"

namespace tpc::bench {

namespace {

// Finaliser of MurmurHash3: every bit of the index moves every bit of the result.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33U);
}

struct Sums {
  std::array<double, Signature::width> projections{};
  double squares = 0;

  void add(std::uint64_t key, std::int64_t global_index, double value) {
    std::uint64_t bits = mixed(key + static_cast<std::uint64_t>(global_index));
    for (double& projection : projections) {
      projection += (bits & 1U) != 0 ? value : -value;
      bits >>= 1U;
    }
    squares += value * value;
  }
};

// Calls f(local index, global index) for each element of a block, both row-major.
template <class F>
void for_each_element(const Block& block, const Shape& local, const Shape& global, const F& f) {
  const std::size_t dims = global.size();
  Shape at(dims, 0);
  const std::int64_t count = element_count(block.extent);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t l = 0;
    std::int64_t g = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      l = l * local[d] + block.local_offset[d] + at[d];
      g = g * global[d] + block.global_offset[d] + at[d];
    }
    f(l, g);
    for (std::size_t d = dims; d-- > 0;) {
      if (++at[d] < block.extent[d]) break;
      at[d] = 0;
    }
  }
}

Sums own_sums(const PlacedTensor& tensor, std::int64_t& elements) {
  Sums sums;
  const std::uint64_t key = hash_name(tensor.name);
  visit_float(tensor.local.dtype(), [&](auto zero) {
    const auto* data = tensor.local.data<decltype(zero)>();
    for (const Block& block : tensor.placement.blocks) {
      elements += element_count(block.extent);
      for_each_element(
          block, tensor.local.shape(), tensor.placement.global_shape,
          [&](std::int64_t l, std::int64_t g) { sums.add(key, g, static_cast<double>(data[l])); });
    }
  });
  return sums;
}

constexpr std::int64_t numbers_per_tensor = Signature::width + 2;

}  // namespace

Signatures signatures_of(Communicator& ranks, const std::vector<PlacedTensor>& tensors) {
  const auto count = static_cast<std::int64_t>(tensors.size());
  const Tensor numbers = host_tensor(DType::f64, {count * numbers_per_tensor});
  double* at = numbers.data<double>();
  for (const PlacedTensor& tensor : tensors) {
    std::int64_t elements = 0;
    const Sums sums = own_sums(tensor, elements);
    at = std::copy(sums.projections.begin(), sums.projections.end(), at);
    *at++ = sums.squares;
    *at++ = static_cast<double>(elements);
  }
  ranks.all_reduce(numbers, numbers, ReduceOp::sum);
  Signatures signatures;
  at = numbers.data<double>();
  for (const PlacedTensor& tensor : tensors) {
    const double copies =
        at[numbers_per_tensor - 1] / static_cast<double>(element_count(tensor.placement.global_shape));
    Signature& signature = signatures[tensor.name];
    for (double& projection : signature.projections) projection = *at++ / copies;
    signature.norm = std::sqrt(*at++ / copies);
    ++at;
  }
  return signatures;
}

namespace {

using baseline::Dense;

Signature signature_of(const std::string& name, const baseline::Answer& answer) {
  Sums sums;
  const std::uint64_t key = hash_name(name);
  for (std::size_t i = 0; i < answer.value.values.size(); ++i)
    sums.add(key, static_cast<std::int64_t>(i), answer.value.values[i]);
  return {sums.projections, std::max(std::sqrt(sums.squares), answer.scale_norm)};
}

// Draws the whole of what a layer reads; names without the layer's prefix.
baseline::Inputs layer_inputs(const Problem& problem, const std::string& prefix) {
  baseline::Inputs inputs;
  for (const InputSpec& input : problem.inputs)
    if (input.name.starts_with(prefix))
      inputs[input.name.substr(prefix.size())] = {input.shape, draw_rounded(problem, input)};
  return inputs;
}

}  // namespace

Signatures baseline_signatures(const StackShape& shape, int slot) {
  const Problem weights = stack_problem(shape);
  Problem problem = weights;
  problem.seed += static_cast<std::uint64_t>(slot);
  const auto drawn = [&](const char* name) {
    const InputSpec& input = input_named(problem, name);
    return Dense{input.shape, draw_rounded(problem, input)};
  };
  Signatures signatures;
  std::vector<baseline::Inputs> layers;
  Dense activation = drawn("x");
  for (std::int64_t layer = 0; layer < shape.model.layers; ++layer) {
    layers.push_back(layer_inputs(weights, fmt::format("blocks.{}.", layer)));
    layers.back()["x"] = std::move(activation);
    const auto answers = baseline::solve(Operation::transformer_layer, shape.model, layers.back()).answers;
    activation = answers.at("y").value;
    if (layer + 1 == shape.model.layers) signatures["y"] = signature_of("y", answers.at("y"));
  }
  Dense upstream = drawn("dy");
  for (std::int64_t layer = shape.model.layers; layer-- > 0;) {
    layers.back()["dy"] = std::move(upstream);
    const auto answers = baseline::solve(Operation::transformer_layer, shape.model, layers.back()).answers;
    layers.pop_back();
    upstream = answers.at("dx").value;
    if (layer == 0) signatures["dx"] = signature_of("dx", answers.at("dx"));
    for (const auto& [name, answer] : answers)
      if (name.starts_with("grad.")) {
        const std::string full = fmt::format("blocks.{}.{}", layer, name.substr(5));
        signatures[full] = signature_of(full, answer);
      }
  }
  return signatures;
}

Signatures baseline_signatures(const Problem& problem) {
  Signatures signatures;
  const auto answers = baseline::solve(problem.operation(), problem.model, layer_inputs(problem, "")).answers;
  for (const auto& [name, answer] : answers) signatures[name] = signature_of(name, answer);
  return signatures;
}

double baseline_flops(const StackShape& shape) {
  const ModelConfig& m = shape.model;
  const auto tokens = static_cast<double>(shape.batch * shape.sequence);
  const auto wide = static_cast<double>(2 * m.heads * m.head_dim + 2 * m.kv_heads * m.head_dim +
                                        (m.mlp == MlpKind::swiglu ? 3 : 2) * m.ffn);
  const auto scores = static_cast<double>(4 * shape.sequence * m.heads * m.head_dim);
  const double forward = tokens * (2 * wide * static_cast<double>(m.hidden) + scores);
  return static_cast<double>(m.layers) * 4 * forward;  // forward, then forward and backward
}

std::string difference(const Signatures& got, const Signatures& reference, double tolerance) {
  double worst = 0;
  std::string complaint;
  for (const auto& [name, signature] : got) {
    const auto expected = reference.find(name);
    if (expected == reference.end()) return fmt::format("nothing is known of {}", name);
    double squares = 0;
    for (std::size_t i = 0; i < Signature::width; ++i) {
      const double d = signature.projections[i] - expected->second.projections[i];
      squares += d * d / Signature::width;
    }
    const double error = std::sqrt(squares) / std::max(expected->second.norm, 1e-300);
    if (error <= tolerance || error <= worst) continue;  // a NaN is not
    worst = error;
    complaint = fmt::format("{} is off by {:.2g} of its norm, allowed {:.2g}", name, error, tolerance);
    if (std::isnan(error)) return complaint;
  }
  return complaint;
}

double signature_tolerance(const StackShape& shape) {
  constexpr double roundings = 16;
  const double u = unit_roundoff(shape.dtype);
  const double terms =
      static_cast<double>(std::max({shape.model.hidden, shape.model.ffn, shape.batch * shape.sequence}));
  const double depth = std::sqrt(static_cast<double>(shape.model.layers));
  // In bf16 products are summed in f32, so only what is stored is rounded.
  return roundings * u * depth * (shape.dtype == DType::bf16 ? 1 : std::sqrt(terms));
}

void share(Communicator& ranks, Signatures& signatures, int root) {
  std::string names;
  std::vector<double> numbers;
  for (const auto& [name, signature] : signatures) {
    names += name + "\n";
    numbers.insert(numbers.end(), signature.projections.begin(), signature.projections.end());
    numbers.push_back(signature.norm);
  }
  const Tensor sizes = host_tensor(DType::i64, {2});
  sizes.data<std::int64_t>()[0] = static_cast<std::int64_t>(names.size());
  sizes.data<std::int64_t>()[1] = static_cast<std::int64_t>(numbers.size());
  ranks.broadcast(sizes, root);
  const Tensor text = host_tensor(DType::u8, {sizes.data<std::int64_t>()[0]});
  const Tensor values = host_tensor(DType::f64, {sizes.data<std::int64_t>()[1]});
  if (ranks.rank() == root) {
    std::copy(names.begin(), names.end(), text.data<std::uint8_t>());
    std::copy(numbers.begin(), numbers.end(), values.data<double>());
  }
  ranks.broadcast(text, root);
  ranks.broadcast(values, root);
  signatures.clear();
  const double* at = values.data<double>();
  std::string name;
  for (std::int64_t i = 0; i < text.count(); ++i) {
    const auto c = static_cast<char>(text.data<std::uint8_t>()[i]);
    if (c != '\n') {
      name += c;
      continue;
    }
    Signature& signature = signatures[name];
    std::copy(at, at + Signature::width, signature.projections.begin());
    signature.norm = at[Signature::width];
    at += Signature::width + 1;
    name.clear();
  }
}

}  // namespace tpc::bench
