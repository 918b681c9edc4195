// SPDX-License-Identifier: Apache-2.0
#include "harness/front/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/compare/tiers.hpp"
#include "harness/run/runner/runner.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr std::size_t most_suggestions = 5;

std::string_view formula(Operation operation) {
  switch (operation) {
    case Operation::column_linear:
      return "y = x·Wᵀ + b, the rows of W [F,H] over the ranks; dx = dy·W, dW = dyᵀ·x, db = sum of dy";
    case Operation::row_linear:
      return "y = x·Wᵀ + b, the columns of W [H,F] over the ranks, b added once; dx = dy·W, dW = dyᵀ·x, db = "
             "sum "
             "of dy";
    case Operation::mlp:
      return "y = fc2(gelu(fc1(x))) or y = down(silu(gate(x))·up(x))";
    case Operation::attention:
      return "y = out(softmax(scale·q·kᵀ)·v), q, k, v = x·Wᵀ + b split into heads; G = A/K heads share one k "
             "and v";
    case Operation::layer_norm:
      return "y = (x - mean)/sqrt(var + eps)·gain + bias, over the last dim";
    case Operation::rms_norm:
      return "y = x/sqrt(mean(x²) + eps)·gain, over the last dim";
    case Operation::vocab_embedding:
      return "y[s,b] = W[ids[s,b]] + positions[s], the rows of W over the ranks";
    case Operation::vocab_cross_entropy:
      return "loss = mean of -sum_v q_v·log softmax(logits)_v + z·logsumexp², the vocabulary over the ranks";
    case Operation::transformer_layer:
      return "h = x + attention(norm1(x)); y = h + mlp(norm2(h))";
    case Operation::model:
      return "loss = cross_entropy(head(final_norm(blocks(embedding(ids)))), targets)";
    case Operation::dropout:
      return "y = x·mask/(1-p) of x = 1 at every site, forward, backward, computed again and in the next "
             "step";
    case Operation::init:
      return "w = std·g for weights, 1 for gains, 0 for biases; std from the whole tensor";
    case Operation::train:
      return "w <- w - lr·g (SGD) or AdamW, step by step, gradients clipped by their norm";
  }
  return {};
}

std::string shape_text(const InputSpec& input) {
  return fmt::format("{} {}", input.name, to_string(input.shape));
}

std::string collective_text(const CollectiveProblem& collective) {
  std::string text = std::string(name(collective.kind));
  if (collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::reduce_scatter)
    text += fmt::format(" ({})", name(collective.op));
  if (collective.kind == CollectiveKind::broadcast) text += fmt::format(" from rank {}", collective.root);
  text +=
      fmt::format(" of {} elements, {}", collective.count, collective.in_place ? "in place" : "out of place");
  if (collective.repeats > 1) text += fmt::format(", {} times", collective.repeats);
  if (!collective.members.empty()) text += fmt::format(", among ranks {}", joined(collective.members, ", "));
  return text;
}

std::string model_text(const ModelConfig& m) {
  return fmt::format("H={} A={} K={} D={} F={} V={}, {} layer{}", m.hidden, m.heads, m.kv_heads, m.head_dim,
                     m.ffn, m.vocab, m.layers, m.layers == 1 ? "" : "s");
}

std::string definitions_text(const ModelConfig& m) {
  const std::string position = m.position == PositionKind::rotary    ? "rotary positions"
                               : m.position == PositionKind::learned ? "learned positions"
                                                                     : "no positions";
  const auto gelu = m.gelu == GeluForm::erf ? "gelu with erf" : "gelu with tanh";
  return joined(
      std::vector<std::string>{
          m.norm == NormKind::layer_norm ? "LayerNorm" : "RMSNorm", m.mlp == MlpKind::gelu ? gelu : "SwiGLU",
          position, m.causal ? "causal" : "not causal", m.qkv_bias ? "q,k,v bias" : "no q,k,v bias",
          m.mlp_bias ? "mlp bias" : "no mlp bias", m.tied_head ? "tied head" : "untied head"},
      ", ");
}

std::string sharding_text(const Sharding& sharding) {
  constexpr std::string_view modes[] = {"off", "input kept", "input gathered again in backward"};
  std::string text =
      fmt::format("sequence parallel {}", modes[static_cast<std::size_t>(sharding.sequence_parallel)]);
  text += sharding.fused ? ", fused weights" : ", separate weights";
  if (sharding.padded_vocab > 0) text += fmt::format(", vocabulary padded to {}", sharding.padded_vocab);
  if (sharding.own_entries) text += ", each with an entry of its own";
  if (sharding.mlp_order == MlpOrder::row_first) text += ", row before column";
  if (sharding.gather_output) text += ", output gathered";
  if (sharding.overlap_chunks > 1)
    text += fmt::format(", products overlapped with collectives in {} chunks", sharding.overlap_chunks);
  if (!sharding.input_is_split) text += ", input not split";
  return text;
}

std::string asked_text(const Case& c) {
  const Problem& problem = c.request.problem;
  if (problem.kind == Problem::Kind::mesh)
    return "formula     coordinates of each rank, the last axis fastest\n";
  if (problem.kind == Problem::Kind::collective)
    return fmt::format("formula     {}\n", collective_text(problem.collective));
  return fmt::format("formula     {}\nsizes       S={} B={}, {}\ndefinitions {}\nsharding    {}\n",
                     formula(problem.operation), problem.sequence, problem.batch, model_text(problem.model),
                     definitions_text(problem.model), sharding_text(c.request.sharding));
}

}  // namespace

std::string explanation(const Case& c) {
  std::vector<std::string> shapes;
  for (const InputSpec& input : c.request.problem.inputs) shapes.push_back(shape_text(input));
  std::string text = fmt::format("{}\nstatement   {}\n{}", full_name(c), c.statement, asked_text(c));
  if (!shapes.empty()) text += fmt::format("inputs      {}\n", joined(shapes, ", "));
  text += fmt::format("dtype       {}, seed {}\n", name(c.request.problem.dtype), c.request.problem.seed);
  text += fmt::format("mesh        {}, {} ranks\n", to_string(c.request.mesh), ranks_of(c));
  if (c.expectation == Expectation::refusal)
    return text + fmt::format("demand      refused before any collective, in one line that names: {}\n",
                              joined(c.reason_words, ", "));
  return text + fmt::format("tolerance   tier {}: {}\n", name(c.tier), demand(c));
}

const Case& case_named(const std::vector<Suite>& suites, const std::string& full_name_wanted) {
  std::vector<std::string> similar;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases) {
      const std::string candidate = full_name(c);
      if (candidate == full_name_wanted) return c;
      if (candidate.find(full_name_wanted) != std::string::npos && similar.size() < most_suggestions)
        similar.push_back(candidate);
    }
  throw UsageError(fmt::format("there is no case '{}'; {}", full_name_wanted,
                               similar.empty() ? "see --list" : "did you mean " + joined(similar, ", ")));
}

}  // namespace tpc
