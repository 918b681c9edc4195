// SPDX-License-Identifier: Apache-2.0
#include "harness/exact_attention.hpp"

#include <bit>
#include <cmath>

#include "harness/inputs_kinds.hpp"
#include "reference/core/philox.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

namespace {

// Where bit `bit` of a kv head lies among the head's dims, and its sign.
std::int64_t head_dim_of_bit(const ModelConfig& model, std::int64_t kv_head, int bit) {
  return (bit + kv_head) % model.head_dim;
}

double sign_of_bit(std::uint64_t seed, std::int64_t kv_head, int bit) {
  const auto index = static_cast<std::uint64_t>(kv_head * 64 + bit);
  return (philox(seed, index, hash_name("attention_signs"))[0] & 1U) == 0 ? 1.0 : -1.0;
}

double bit_of(std::int64_t number, int bit) {
  return ((static_cast<std::uint64_t>(number) >> static_cast<unsigned>(bit)) & 1U) != 0 ? 1.0 : -1.0;
}

// 1024 over the attention scale.
double query_magnitude(const ModelConfig& model) {
  const double magnitude = 1024 / attention_scale(model);
  int exponent = 0;
  TPC_EXPECT(std::frexp(magnitude, &exponent) == 0.5,
             "exact attention needs a scale that is a power of two, not {}: take a head dim of 4, 16 or 64",
             attention_scale(model));
  return magnitude;
}

// The bit that a head dim holds: -1 where none.
int bit_on_dim(const ModelConfig& model, const AttentionCode& code, std::int64_t kv_head, std::int64_t dim) {
  for (int bit = 0; bit < code.dims(); ++bit)
    if (head_dim_of_bit(model, kv_head, bit) == dim) return bit;
  return -1;
}

// Bits 0 ... bits-1 number the pair; bit `bits` tells its two positions apart.
double code_column(const Problem& problem, const AttentionCode& code, std::int64_t position,
                   std::int64_t batch_entry, std::int64_t column) {
  const auto c = static_cast<int>(column);
  if (c < code.bits) return bit_of(position >> 1, c);
  if (c == code.bits) return bit_of(position, 0);
  const int set = (c - code.bits - 1) / code.bits;
  const int bit = (c - code.bits - 1) % code.bits;
  return bit_of(target_pair(problem, code, position, batch_entry, set), bit);
}

RunFiller x_filler(const Problem& problem, const InputSpec& input, const AttentionCode& code) {
  TPC_EXPECT(input.shape.size() == 3, "input '{}' must be [S, B, H], not {}", input.name,
             to_string(input.shape));
  const std::int64_t batch = input.shape[1];
  const std::int64_t width = input.shape[2];
  TPC_EXPECT(code.columns() < width, "exact attention over {} positions needs more than {} columns, not {}",
             code.sequence, code.columns(), width);
  const Generator g = input.generator;
  const std::uint64_t stream = hash_name(input.name);
  return filler_by_rows(width, [=](std::int64_t row, double* out) {
    for (std::int64_t column = 0; column < width; ++column)
      out[column] = column < code.columns() ? code_column(problem, code, row / batch, row % batch, column)
                                            : whole_number_at(g, problem.seed, stream, row * width + column);
  });
}

RunFiller q_filler(const Problem& problem, const AttentionCode& code, std::int64_t width) {
  const ModelConfig& model = problem.model;
  const double magnitude = query_magnitude(model);
  return filler_by_rows(width, [=](std::int64_t row, double* out) {
    std::fill_n(out, width, 0.0);
    const std::int64_t head = row / model.head_dim;
    const std::int64_t kv_head = head / (model.heads / model.kv_heads);
    const int bit = bit_on_dim(model, code, kv_head, row % model.head_dim);
    if (bit < 0 || bit == code.bits) return;
    out[code.bits + 1 + target_set_of(head) * code.bits + bit] =
        magnitude * sign_of_bit(problem.seed, kv_head, bit);
  });
}

RunFiller k_filler(const Problem& problem, const AttentionCode& code, std::int64_t width) {
  const ModelConfig& model = problem.model;
  return filler_by_rows(width, [=](std::int64_t row, double* out) {
    std::fill_n(out, width, 0.0);
    const std::int64_t kv_head = row / model.head_dim;
    const int bit = bit_on_dim(model, code, kv_head, row % model.head_dim);
    if (bit >= 0) out[bit] = sign_of_bit(problem.seed, kv_head, bit);
  });
}

RunFiller v_filler(const Problem& problem, const InputSpec& input, const AttentionCode& code,
                   std::int64_t width) {
  const Generator g = input.generator;
  const std::uint64_t stream = hash_name(input.name);
  return filler_by_rows(width, [=, seed = problem.seed](std::int64_t row, double* out) {
    for (std::int64_t column = 0; column < width; ++column)
      out[column] = column < code.columns() ? 0.0 : whole_number_at(g, seed, stream, row * width + column);
  });
}

RunFiller bias_filler(const Problem& problem, const InputSpec& input, const AttentionCode& code) {
  const ModelConfig& model = problem.model;
  const bool query = input.generator.kind == Generator::Kind::attention_q;
  std::vector<double> bias(static_cast<std::size_t>(element_count(input.shape)), 0.0);
  for (std::size_t row = 0; row < bias.size(); ++row) {
    const auto head = static_cast<std::int64_t>(row) / model.head_dim;
    const std::int64_t kv_head = query ? head / (model.heads / model.kv_heads) : head;
    const int bit = bit_on_dim(model, code, kv_head, static_cast<std::int64_t>(row) % model.head_dim);
    if (bit == (query ? -1 : code.bits)) bias[row] = sign_of_bit(problem.seed, head, 63);
  }
  return filler_of(std::move(bias));
}

}  // namespace

AttentionCode::AttentionCode(const Problem& problem)
    : sequence(problem.sequence), causal(problem.model.causal) {
  const auto pairs = static_cast<std::uint64_t>((sequence + 1) / 2);
  bits = pairs <= 1 ? 0 : std::bit_width(pairs - 1);
  TPC_EXPECT(dims() <= problem.model.head_dim,
             "exact attention over {} positions needs a head dim of {}, not {}", sequence, dims(),
             problem.model.head_dim);
}

std::int64_t target_pair(const Problem& problem, const AttentionCode& code, std::int64_t position,
                         std::int64_t batch_entry, int set) {
  // Pairs of which both keys exist and are visible; the first alone where there is none.
  const std::int64_t keys = code.causal ? position + 1 : code.sequence;
  const std::int64_t pairs = std::max<std::int64_t>(1, keys / 2);
  const auto index = static_cast<std::uint64_t>((position * problem.batch + batch_entry) * target_sets + set);
  const std::uint64_t word = philox(problem.seed, index, hash_name("attention_targets"))[0];
  return static_cast<std::int64_t>((word * static_cast<std::uint64_t>(pairs)) >> 32U);
}

RunFiller attention_filler(const Problem& problem, const InputSpec& input) {
  const AttentionCode code(problem);
  const Generator::Kind kind = input.generator.kind;
  if (kind == Generator::Kind::attention_x) return x_filler(problem, input, code);
  if (input.shape.size() == 1) return bias_filler(problem, input, code);
  TPC_EXPECT(input.shape.size() == 2 && code.columns() < input.shape[1],
             "input '{}' of shape {} cannot read {} code columns", input.name, to_string(input.shape),
             code.columns());
  if (kind == Generator::Kind::attention_q) return q_filler(problem, code, input.shape[1]);
  if (kind == Generator::Kind::attention_k) return k_filler(problem, code, input.shape[1]);
  return v_filler(problem, input, code, input.shape[1]);
}

}  // namespace tpc
