// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/request_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/inputs/inputs.hpp"

namespace tpc {

std::optional<HeadRows> head_rows(const ModelConfig& model, const std::string& tensor) {
  const auto is_of = [&](const char* linear) {
    for (const char* part : {"weight", "bias"})
      if (tensor.ends_with(fmt::format(".{}.{}", linear, part))) return true;
    return false;
  };
  if (is_of("q")) return HeadRows{model.head_dim, "heads"};
  if (is_of("k") || is_of("v")) return HeadRows{model.head_dim, "kv heads"};
  return std::nullopt;
}

std::vector<std::pair<std::string, double>> counts_of(const Request& request) {
  const Problem& problem = request.problem;
  std::vector<std::pair<std::string, double>> counts;
  if (!problem.is_operation()) return counts;
  const MeshSpec& mesh = request.mesh;
  if (mesh.shape.size() > 1)
    for (std::size_t i = 0; i < mesh.shape.size(); ++i)
      counts.emplace_back("ranks of axis " + mesh.axes[i], mesh.shape[i]);
  counts.emplace_back("tokens", problem.batch * problem.sequence);
  counts.emplace_back("tokens of a shard of the sequence",
                      static_cast<double>(problem.batch * problem.sequence) / mesh.ranks());
  if (has_input(problem, "targets")) {
    const std::vector<double> targets = draw_rounded(problem, input_named(problem, "targets"));
    const auto ignored =
        std::count(targets.begin(), targets.end(), static_cast<double>(problem.model.loss.ignore_index));
    counts.emplace_back("tokens with a target",
                        static_cast<double>(targets.size()) - static_cast<double>(ignored));
  }
  counts.emplace_back("sequences", problem.batch);
  counts.emplace_back("positions", problem.sequence);
  return counts;
}

std::optional<TableReads> reads_of(const Request& request, const std::string& tensor) {
  const Problem& problem = request.problem;
  const bool reads = problem.is_operation() && problem.asks(Operation::vocab_embedding) && tensor == "y";
  if (!reads) return {};
  TableReads found;
  for (const double id : draw_rounded(problem, input_named(problem, "ids")))
    found.ids.push_back(static_cast<std::int64_t>(id));
  found.table = draw_rounded(problem, input_named(problem, "weight"));
  const std::int64_t ranks = request.mesh.ranks();
  for (const std::int64_t rows : {problem.model.vocab, request.sharding.padded_vocab})
    if (rows > 0) found.rows_per_rank.push_back((rows + ranks - 1) / ranks);
  return found;
}

}  // namespace tpc
