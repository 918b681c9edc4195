// SPDX-License-Identifier: Apache-2.0
// Generators for the exact tier. In f64 and f32 whole numbers from a range do; bf16 counts to 256, so there
// most elements are zero and the shares of the others are chosen such that every sum has few terms. Expected
// numbers of terms are in the comments; the baseline's account of contractions judges what came out.
#include <algorithm>
#include <cmath>

#include "harness/judge/inputs/problem_inputs.hpp"

namespace tpc {

namespace {

using Kind = Generator::Kind;
using Part = InputSlot::Part;

double whole(std::int64_t n) { return static_cast<double>(n); }

// {-(m-1), ..., m} · 2^exponent: not symmetric, so that sums have a mean.
Generator range_of(std::int64_t m, int exponent = 0) {
  return {Kind::integers, whole(1 - m), whole(m), 0, exponent};
}
Generator share_of(double share, int exponent = 0) {
  return {Kind::sparse, 0, 0, std::min(1.0, share), exponent};
}
Generator nothing() { return {Kind::constant}; }

bool is_last_linear(const std::string& slot) {
  return slot.starts_with("fc2.") || slot.starts_with("down.") || slot.starts_with("out.");
}

std::int64_t tokens_of(const Problem& problem) { return problem.batch * problem.sequence; }

// Sums run over in, out and tokens.
Generator exact_linear(const Problem& problem, const InputSlot& slot) {
  const std::int64_t longest = std::max({problem.model.hidden, problem.model.ffn, tokens_of(problem)});
  if (problem.dtype == DType::f64) return range_of(1024);
  if (problem.dtype == DType::f32)
    return range_of(
        std::clamp<std::int64_t>(std::llround(std::floor(std::sqrt(0x1p24 / whole(longest)))), 1, 64));
  if (slot.part == Part::bias) return range_of(8);
  const double share = 8 / std::sqrt(whole(longest));  // 64 terms
  return share_of(slot.part == Part::dy ? std::min(share, 64 / whole(tokens_of(problem))) : share);
}

// The first weights carry a factor at which the activation is saturated: gelu is max(0, x) on multiples of
// 64, silu on multiples of 1024. The last weight takes it back.
Generator exact_mlp(const Problem& problem, const InputSlot& slot) {
  const ModelConfig& c = problem.model;
  const bool gelu = c.mlp == MlpKind::gelu;
  const int gain = gelu ? 6 : 10;
  const bool activated = slot.name.starts_with(gelu ? "fc1." : "gate.");
  const bool last_weight = is_last_linear(slot.name) && slot.part == Part::weight;
  const int exponent = activated ? gain : last_weight ? -gain : 0;
  if (problem.dtype == DType::f64) return range_of(gelu ? 8 : 4, exponent);
  if (problem.dtype == DType::f32 && gelu) return range_of(4, exponent);

  const double tokens = whole(tokens_of(problem));
  const double last = std::min(1.0, (gelu ? 96 : 48) / whole(c.ffn));  // y: as many terms, half of them zero
  const double upstream = std::min(1.0, (gelu ? 32 : 20) / tokens);    // terms of the hidden gradient
  const double spread =
      (gelu ? 64 : 18) / (whole(c.ffn) * upstream);  // dx: as many terms, of products if gated
  const double first = std::min(std::sqrt(1.5 / whole(c.hidden)), spread);
  if (slot.part == Part::bias) return share_of(0.25, exponent);
  if (slot.part == Part::dy) return share_of(upstream / (whole(c.hidden) * last));
  if (slot.part == Part::x) return share_of(1.5 / (whole(c.hidden) * first));  // hidden: 1.5 terms
  return share_of(last_weight ? last : first, exponent);
}

// How many terms attention's sums have where inputs are sparse. In bf16 the gradient of a key head is the
// bottleneck: it sums over the queries and query heads that dy reaches, some 6 units each, so that 10 of
// those per key head fill a quarter of what 8 bits can count to.
struct AttentionTerms {
  double value = 2;       // columns of x that a value reads
  double output = 24;     // head dims that an output reads
  double upstream = 1.5;  // elements of dy per token
};

AttentionTerms attention_terms(const Problem& problem) {
  if (problem.dtype != DType::bf16) return {};
  const double kv_heads = whole(problem.model.kv_heads);
  const double output = kv_heads >= 8 ? 8 : 3;
  return {1, output, std::min(1.5, 10 * kv_heads / (output * whole(tokens_of(problem))))};
}

// The gradient of x is a sum of what comes through the keys, in steps of 1024, and through the values; so v
// must be small, and in f32 and bf16 does not read the columns that hold positions. There the query bias is
// zero too: it would reach the gradient of the keys in steps of 1.
Generator exact_attention(const Problem& problem, const InputSlot& slot) {
  const bool f64 = problem.dtype == DType::f64;
  const bool dense = problem.dtype != DType::bf16 && problem.model.hidden <= 128;
  const double hidden = whole(problem.model.hidden);
  const double context = whole(problem.model.heads * problem.model.head_dim);
  const AttentionTerms terms = attention_terms(problem);
  const Kind plain = dense ? Kind::integers : Kind::sparse;
  const auto numbers = [&](Kind kind, double share) {
    const Generator g = dense ? range_of(f64 ? 4 : 2) : share_of(share);
    return Generator{kind, g.a, g.b, g.c};
  };
  if (slot.part == Part::x) return numbers(Kind::attention_x, std::sqrt(terms.value / hidden));
  if (slot.part == Part::dy) return numbers(plain, terms.upstream / hidden);
  if (slot.name == "q.bias" && !f64) return nothing();
  if (slot.name.starts_with("q.")) return {Kind::attention_q};
  if (slot.name.starts_with("k.")) return {Kind::attention_k};
  if (slot.part == Part::bias) return range_of(2);
  if (slot.name == "out.weight") return numbers(plain, terms.output / context);
  return numbers(dense && f64 ? Kind::integers : Kind::attention_v, std::sqrt(terms.value / hidden));
}

Generator exact_norm(const Problem& problem, const InputSlot& slot) {
  if (slot.part == Part::x) return {Kind::norm_rows};
  if (slot.part == Part::gain) return {Kind::integers, 1, 2};
  if (slot.part == Part::bias) return range_of(8);
  const bool narrow = problem.dtype == DType::bf16;
  return {Kind::paired_rows, narrow ? 1.0 : 3.0, 0,
          narrow ? std::min(1.0, 64 / whole(tokens_of(problem))) : 1.0};
}

// The gradient of a row is the sum over the tokens that have its id.
Generator exact_embedding(const Problem& problem, const InputSlot& slot) {
  if (slot.part != Part::dy || problem.dtype != DType::bf16) return range_of(64);
  const std::int64_t repeats = 8 + 4 * tokens_of(problem) / problem.model.vocab;
  return range_of(std::clamp<std::int64_t>(128 / repeats, 1, 8));
}

}  // namespace

Generator exact_generator(const Problem& problem, const InputSlot& slot) {
  switch (problem.operation()) {
    case Operation::column_linear:
    case Operation::row_linear:
      return exact_linear(problem, slot);
    case Operation::mlp:
      return exact_mlp(problem, slot);
    case Operation::attention:
      return exact_attention(problem, slot);
    case Operation::layer_norm:
    case Operation::rms_norm:
      return exact_norm(problem, slot);
    case Operation::vocab_embedding:
      return exact_embedding(problem, slot);
    default:
      return slot.part == Part::logits ? Generator{Kind::peaked_logits, -3, 3} : Generator{Kind::constant, 2};
  }
}

}  // namespace tpc
