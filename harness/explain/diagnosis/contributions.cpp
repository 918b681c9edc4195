// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/contributions.hpp"

#include <algorithm>

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/values/texts.hpp"

namespace tpc {

namespace {

using baseline::Dense;
using baseline::Inputs;

// Zeroes all but `count` entries from `first` on along a dim.
void keep_part(Dense& tensor, int dim, std::int64_t first, std::int64_t count) {
  const auto d = static_cast<std::size_t>(dim);
  std::int64_t inner = 1;
  for (std::size_t e = d + 1; e < tensor.shape.size(); ++e) inner *= tensor.shape[e];
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) / inner % tensor.shape[d];
    if (at < first || at >= first + count) tensor.values[i] = 0;
  }
}

void clear(Inputs& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  if (found != inputs.end()) std::fill(found->second.values.begin(), found->second.values.end(), 0);
}

// The part of an even cut of a dim that belongs to a rank.
void keep_own(Inputs& inputs, const std::string& name, int dim, int rank, int ranks) {
  Dense& tensor = inputs.at(name);
  const std::int64_t each = tensor.shape[static_cast<std::size_t>(dim)] / ranks;
  keep_part(tensor, dim, rank * each, each);
}

std::function<bool(const std::string&)> one_of(std::vector<std::string> names) {
  return [names = std::move(names)](const std::string& tensor) {
    return std::find(names.begin(), names.end(), tensor) != names.end();
  };
}

// y and dx of a layer that ends in a row linear are linear in its weight.
SumOverRanks by_columns(const std::string& linear, int ranks, std::vector<std::string> tensors) {
  return {"the columns of " + linear + "weight that it holds", one_of(std::move(tensors)),
          [linear, ranks](Inputs& inputs, int rank) {
            keep_own(inputs, linear + "weight", 1, rank, ranks);
            clear(inputs, linear + "bias");
          }};
}

// Every gradient of a parameter is linear in dy.
SumOverRanks by_tokens(int ranks) {
  return {"the tokens that it holds", [](const std::string& tensor) { return tensor.starts_with("grad."); },
          [ranks](Inputs& inputs, int rank) { keep_own(inputs, "dy", 0, rank, ranks); }};
}

SumOverRanks by_features_of_dy(int ranks) {
  return {"the output features that it holds", one_of({"dx"}),
          [ranks](Inputs& inputs, int rank) { keep_own(inputs, "dy", 2, rank, ranks); }};
}

SumOverRanks by_words(int ranks, std::int64_t padded_vocab) {
  return {"the words that it holds", one_of({"y"}), [ranks, padded_vocab](Inputs& inputs, int rank) {
            Dense& weight = inputs.at("weight");
            const std::int64_t each = (padded_vocab > 0 ? padded_vocab : weight.shape[0]) / ranks;
            keep_part(weight, 0, rank * each, each);
            clear(inputs, "positions.weight");
          }};
}

std::vector<SumOverRanks> forward_and_input_sums(const Request& request, int ranks) {
  const Problem& problem = request.problem;
  const bool gelu = problem.model.mlp == MlpKind::gelu;
  switch (problem.operation()) {
    case Operation::column_linear:
      return {by_features_of_dy(ranks)};
    case Operation::row_linear:
      return {by_columns("", ranks, {"y"})};
    case Operation::mlp:
      if (request.sharding.mlp_order == MlpOrder::row_first) return {};
      return {by_columns(gelu ? "fc2." : "down.", ranks, {"y", "dx"})};
    case Operation::attention:
      return {by_columns("out.", ranks,
                         {"y", "dx", "grad.k.weight", "grad.k.bias", "grad.v.weight", "grad.v.bias"})};
    case Operation::vocab_embedding:
      return {by_words(ranks, request.sharding.padded_vocab)};
    default:
      return {};
  }
}

std::string bytes_of(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

std::vector<double> values_of(const std::string& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

}  // namespace

std::vector<SumOverRanks> sums_of(const Request& request) {
  const Problem& problem = request.problem;
  const int ranks = request.mesh.ranks();
  const bool judged = problem.is_operation() && ranks > 1;
  if (!judged || (problem.random.profile != "invariant" && !masks_of(problem).empty())) return {};
  std::vector<SumOverRanks> sums = forward_and_input_sums(request, ranks);
  const bool has_dy = has_input(problem, "dy");
  const bool single = !problem.asks(Operation::transformer_layer);
  if (request.sharding.sequence_parallel != SequenceParallel::off && has_dy && single)
    sums.push_back(by_tokens(ranks));
  return sums;
}

std::vector<Contributions> contributions_to(const TensorEvidence& tensor, const Request& request,
                                            Communicator& ranks) {
  std::vector<Contributions> all;
  for (const SumOverRanks& sum : sums_of(request)) {
    if (!sum.is_sum(tensor.name)) continue;
    Inputs inputs = baseline_inputs(request.problem);
    sum.keep_only(inputs, ranks.rank());
    const auto solution = baseline::solve(request.problem.operation(), request.problem.model, inputs);
    Contributions contributions{sum.meaning, {}, tensor.right};
    for (const std::string& bytes :
         gather_bytes(ranks, bytes_of(solution.answers.at(tensor.name).value.values))) {
      contributions.terms.push_back(values_of(bytes));
      for (std::size_t i = 0; i < contributions.rest.size(); ++i)
        contributions.rest[i] -= contributions.terms.back()[i];
    }
    // What is no part of the sum may be nothing but rounding.
    if (norm(contributions.rest) < 1e-9 * norm(tensor.right))
      contributions.rest.assign(tensor.right.size(), 0);
    all.push_back(std::move(contributions));
  }
  return all;
}

}  // namespace tpc
