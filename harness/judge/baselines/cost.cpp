// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/baselines/cost.hpp"

#include <algorithm>
#include <numeric>

#include "harness/judge/inputs/init_rule.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/masks.hpp"

namespace tpc {

namespace {

std::uint64_t elements_of(const InputSpec& input) {
  return static_cast<std::uint64_t>(element_count(input.shape));
}

// What the baseline keeps between forward and backward, in elements; each tensor rounded up generously.
std::uint64_t kept_elements(const Problem& problem) {
  const ModelConfig& c = problem.model;
  const auto tokens = static_cast<std::uint64_t>(problem.batch * problem.sequence);
  const auto wide = [&](std::int64_t width) {
    return tokens * static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0));
  };
  const std::uint64_t pairs = wide(problem.sequence * c.heads);
  const std::uint64_t norm = wide(4 * c.hidden);
  const std::uint64_t mlp = wide(3 * c.hidden + 5 * c.ffn);
  const std::uint64_t attention =
      wide(4 * c.hidden + (3 * c.heads + 5 * c.kv_heads) * c.head_dim) + 3 * pairs;
  const std::uint64_t block = 2 * norm + mlp + attention;
  const std::uint64_t head = wide(4 * c.vocab);
  switch (problem.operation()) {
    case Operation::model:
    case Operation::train:
      return static_cast<std::uint64_t>(c.layers) * block + head;
    case Operation::transformer_layer:
      return block;
    case Operation::attention:
      return attention;
    case Operation::vocab_cross_entropy:
      return head;
    case Operation::layer_norm:
    case Operation::rms_norm:
    case Operation::vocab_embedding:
      return norm;
    default:
      return mlp;
  }
}

}  // namespace

BaselineCost baseline_cost(const Problem& problem) {
  std::uint64_t all = 0;
  std::uint64_t largest = 0;
  for (const InputSpec& input : problem.inputs) {
    all += elements_of(input);
    largest = std::max(largest, elements_of(input));
  }
  if (problem.asks(Operation::init))  // the first and the second time
    for (const InitSpec& spec : init_specs(problem))
      all += 2 * static_cast<std::uint64_t>(element_count(spec.shape));
  for (const MaskSpec& mask : masks_of(problem)) all += static_cast<std::uint64_t>(element_count(mask.shape));
  BaselineCost cost;
  const auto copies = std::max<std::uint64_t>(1, problem.train.reports.size());
  // dx is as large as x, y as dy, a gradient as its parameter
  cost.answers = copies * all * sizeof(double) + 4096;
  cost.work = cost.answers + all * sizeof(double);
  cost.operations = static_cast<double>(all);
  if (!problem.is_operation()) return cost;
  const bool moved = problem.dtype != DType::f64;  // solved again with inputs moved by one rounding
  cost.work += (kept_elements(problem) + largest) * sizeof(double) + (moved ? cost.answers : 0);
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, problem.train.steps()));
  cost.operations = 3.0 * steps * (moved ? 3 : 1) * static_cast<double>(all) *
                    static_cast<double>(problem.batch * problem.sequence);
  return cost;
}

std::vector<int> deal(std::span<const BaselineCost> costs, int ranks) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a].operations > costs[b].operations; });
  std::vector<double> load(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(costs.size());
  for (const std::size_t i : order) {
    const auto idlest = std::min_element(load.begin(), load.end());
    *idlest += costs[i].operations + 1;
    owners[i] = static_cast<int>(idlest - load.begin());
  }
  return owners;
}

std::uint64_t bytes_while_solving(std::span<const BaselineCost> costs, int ranks) {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> work;
  for (const BaselineCost& cost : costs) {
    bytes += cost.answers;
    work.push_back(cost.work);
  }
  std::sort(work.rbegin(), work.rend());
  for (std::size_t i = 0; i < work.size() && i < static_cast<std::size_t>(ranks); ++i) bytes += work[i];
  return bytes;
}

}  // namespace tpc
