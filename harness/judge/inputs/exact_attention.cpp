// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/exact_attention.hpp"

#include <bit>
#include <cmath>

#include "harness/judge/inputs/kinds.hpp"
#include "reference/core/philox.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

namespace {

constexpr std::int64_t vectors = 24;

// The sign with which a kv head takes entry `entry` of a code vector.
double sign_of_entry(std::uint64_t seed, std::int64_t kv_head, int entry) {
  const auto index = static_cast<std::uint64_t>(kv_head * 64 + entry);
  return (philox(seed, index, hash_name("attention_signs"))[0] & 1U) == 0 ? 1.0 : -1.0;
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

// The entry that a dim of a kv head holds; -1 where none.
int entry_on_dim(const ModelConfig& model, const AttentionCode& code, std::int64_t kv_head,
                 std::int64_t dim) {
  const std::int64_t entry = (dim + model.head_dim - kv_head % model.head_dim) % model.head_dim;
  return entry < code.dims() ? static_cast<int>(entry) : -1;
}

// The own code vector, what tells the two of a pair apart, the code vectors of the targets.
double code_column(const Problem& problem, const AttentionCode& code, std::int64_t position,
                   std::int64_t batch_entry, std::int64_t column) {
  const auto c = static_cast<int>(column);
  if (c < code.width()) return code.entry(position / 2, c);
  if (c == code.width()) return position % 2 == 0 ? -1 : 1;
  const int set = (c - code.dims()) / code.width();
  return code.entry(target_pair(problem, code, position, batch_entry, set), (c - code.dims()) % code.width());
}

RunFiller x_filler(const Problem& problem, const InputSpec& input, const AttentionCode& code) {
  TPC_EXPECT(input.shape.size() == 3, "input '{}' must be [S, B, H], not {}", input.name,
             to_string(input.shape));
  const std::int64_t batch = input.shape[1];
  const std::int64_t width = input.shape[2];
  TPC_EXPECT(code.columns() < width, "exact attention over {} positions needs more than {} columns, not {}",
             code.sequence(), code.columns(), width);
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
    const int entry = entry_on_dim(model, code, kv_head, row % model.head_dim);
    if (entry < 0 || entry == code.width()) return;
    out[code.dims() + target_set_of(head) * code.width() + entry] =
        magnitude * sign_of_entry(problem.seed, kv_head, entry);
  });
}

RunFiller k_filler(const Problem& problem, const AttentionCode& code, std::int64_t width) {
  const ModelConfig& model = problem.model;
  return filler_by_rows(width, [=](std::int64_t row, double* out) {
    std::fill_n(out, width, 0.0);
    const std::int64_t kv_head = row / model.head_dim;
    const int entry = entry_on_dim(model, code, kv_head, row % model.head_dim);
    if (entry >= 0) out[entry] = sign_of_entry(problem.seed, kv_head, entry);
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
    const int entry = entry_on_dim(model, code, kv_head, static_cast<std::int64_t>(row) % model.head_dim);
    if (entry == (query ? -1 : code.width())) bias[row] = sign_of_entry(problem.seed, head, 63);
  }
  return filler_of(std::move(bias));
}

}  // namespace

AttentionCode::AttentionCode(const Problem& problem)
    : sequence_(problem.sequence), causal_(problem.model.causal) {
  const std::int64_t pairs = (sequence_ + 1) / 2;
  const std::int64_t room = problem.model.head_dim - 1;
  width_ = pairs <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(pairs - 1));
  if (width_ <= room) return;
  bits_ = false;
  width_ = 0;
  for (std::int64_t reach = 1; reach < pairs; reach *= vectors) width_ += 3;
  TPC_EXPECT(width_ <= room, "exact attention over {} positions needs a head dim of more than {}, not {}",
             sequence_, width_, problem.model.head_dim);
}

double AttentionCode::entry(std::int64_t pair, int i) const {
  if (bits_) return ((pair >> i) & 1) != 0 ? 1 : -1;
  for (int group = 0; group < i / 3; ++group) pair /= vectors;
  const auto vector = static_cast<int>(pair % vectors);
  const double magnitude = vector / 8 == i % 3 ? 1 : 2;
  return ((vector >> (i % 3)) & 1) != 0 ? magnitude : -magnitude;
}

std::int64_t target_pair(const Problem& problem, const AttentionCode& code, std::int64_t position,
                         std::int64_t batch_entry, int set) {
  // Pairs of which both keys exist and are visible; the first alone where there is none.
  const std::int64_t keys = code.causal() ? position + 1 : code.sequence();
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
