// SPDX-License-Identifier: Apache-2.0
#include "harness/front/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/explain/configuration/configuration.hpp"
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

// Every option that matters, in the words of --case, some to a line.
std::string options_text(const Case& c) {
  constexpr std::size_t width = 96;
  std::string text = "options    ";
  std::size_t used = 0;
  for (const std::string& option : options_that_matter(described(c))) {
    if (used > 0 && used + option.size() > width) {
      text += "\n           ";
      used = 0;
    }
    text += " " + option;
    used += option.size() + 1;
  }
  return text + "\n";
}

std::string asked_text(const Case& c) {
  const Problem& problem = c.request.problem;
  if (problem.mesh() != nullptr) return "formula     coordinates of each rank, the last axis fastest\n";
  if (problem.collective() != nullptr)
    return fmt::format("formula     {}\n", collective_text(*problem.collective()));
  return fmt::format("formula     {}\n{}", formula(problem.operation()), options_text(c));
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
