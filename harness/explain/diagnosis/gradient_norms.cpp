// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/gradient_norms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/judge/baselines/baseline_inputs.hpp"
#include "harness/judge/compare/compare.hpp"
#include "harness/judge/compare/exchange.hpp"
#include "harness/values/texts.hpp"
#include "harness/values/wire.hpp"

namespace tpc {

namespace {

using Gradients = std::map<std::string, baseline::Answer>;

double together(double one, double other, double p) {
  return std::isinf(p) ? std::max(one, other) : one + other;
}
double root(double sum, double p) { return std::isinf(p) ? sum : std::pow(sum, 1 / p); }

double norm_of(const NormParts& parts) {
  double all = 0;
  for (const auto& [name, own] : parts.by_tensor) all = together(all, own, parts.p);
  return root(all, parts.p);
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// A way to come to a norm, and what each rank then answers.
struct Way {
  std::string what;
  std::function<double(std::size_t rank)> norm;
};

Way same_everywhere(const std::string& what, double norm) {
  return {what, [norm](std::size_t) { return norm; }};
}

std::vector<Way> ways_of_sums(const NormParts& parts) {
  const double p = parts.p;
  const auto t = static_cast<double>(parts.sharded.size());
  const double sharded = sum_of(parts.sharded);
  const double whole = parts.replicated;
  double of_norms = 0;
  for (const double own : parts.sharded) of_norms += root(own + whole, p);
  return {
      same_everywhere("parameters that all ranks hold count once per rank (fault TP-94)",
                      root(sharded + t * whole, p)),
      same_everywhere("of the parameters that are cut the first rank's part alone counts (fault TP-96)",
                      root(parts.sharded[0] + whole, p)),
      {"each rank has the norm of what it holds alone: the sum over the ranks is missing",
       [=, own = parts.sharded](std::size_t rank) { return root(own[rank] + whole, p); }},
      same_everywhere("parameters that all ranks hold are left out", root(sharded, p)),
      same_everywhere("parameters that are cut are left out", root(whole, p)),
      same_everywhere("the norms of the ranks are added up, where their powers should be", of_norms),
      same_everywhere("the powers of the ranks are averaged", root((sharded + t * whole) / t, p)),
      same_everywhere("the root is not taken", sharded + whole),
  };
}

std::vector<Way> ways_of_largest(const NormParts& parts) {
  const double whole = parts.replicated;
  double of_ranks = 0;
  for (const double own : parts.sharded) of_ranks += std::max(own, whole);
  const char* const added =
      "the largest elements of the ranks are added up, where the largest of them is meant";
  return {same_everywhere(added, of_ranks),
          same_everywhere(added, std::max(sum_of(parts.sharded), whole)),
          same_everywhere(added, sum_of(parts.sharded) + whole),
          {"each rank has the largest element of what it holds alone: the maximum over the ranks is missing",
           [whole, own = parts.sharded](std::size_t rank) { return std::max(own[rank], whole); }},
          same_everywhere("of the parameters that are cut the first rank's part alone counts (fault TP-96)",
                          std::max(parts.sharded[0], whole))};
}

std::vector<Way> ways_of_one_tensor(const NormParts& parts) {
  std::vector<Way> ways;
  if (std::isinf(parts.p)) return ways;
  double all = 0;
  for (const auto& [name, own] : parts.by_tensor) all += own;
  const double ranks = static_cast<double>(parts.sharded.size());
  for (const auto& [name, own] : parts.by_tensor) {
    ways.push_back(
        same_everywhere(fmt::format("the gradient of {} is left out", name), root(all - own, parts.p)));
    ways.push_back(
        same_everywhere(fmt::format("the gradient of {} counts twice", name), root(all + own, parts.p)));
    ways.push_back(same_everywhere(fmt::format("the gradient of {} counts once per rank", name),
                                   root(all + (ranks - 1) * own, parts.p)));
  }
  return ways;
}

// The first gradients, whole.
Gradients first_gradients(const Problem& problem) {
  baseline::Inputs inputs = parameters_of(problem);
  inputs.merge(batch_of(problem, 0));
  Gradients gradients;
  for (auto& [name, answer] : baseline::solve(Operation::model, problem.model, inputs).answers)
    if (name.starts_with("grad.")) gradients[name.substr(5)] = std::move(answer);
  return gradients;
}

double powers(const baseline::Answer& gradient, const Box& box, double p) {
  double sum = 0;
  for_each_run_of(box, [&](const Shape& index, std::int64_t count) {
    const double* first = gradient.value.values.data() + linear_index(gradient.value.shape, index);
    for (std::int64_t i = 0; i < count; ++i)
      sum = together(sum, std::isinf(p) ? std::fabs(first[i]) : std::pow(std::fabs(first[i]), p), p);
  });
  return sum;
}

bool is_within(const Block& block, const Shape& shape) {
  if (block.global_offset.size() != shape.size() || block.extent.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (block.global_offset[d] < 0 || block.global_offset[d] + block.extent[d] > shape[d]) return false;
  return true;
}

struct RankNorm {
  double sharded = 0;
  double replicated = 0;
  double answered = std::nan("");  // for the first step
};

// By where the answer says that its parameters lie after the first step that it reports.
RankNorm own_norm(const TrainProblem& train, const std::vector<LocalTensor>& answer,
                  const Gradients& gradients) {
  const std::string prefix = step_name(train.reports.front(), "");
  RankNorm own;
  for (const LocalTensor& local : answer) {
    if (local.name == "gradient_norm" && local.data && local.data.count() > 0)
      visit_any(local.data.dtype(),
                [&](auto zero) { own.answered = static_cast<double>(local.data.data<decltype(zero)>()[0]); });
    if (!local.name.starts_with(prefix)) continue;
    const auto gradient = gradients.find(local.name.substr(prefix.size()));
    if (gradient == gradients.end()) continue;
    const Shape& shape = gradient->second.value.shape;
    for (const Block& block : local.placement.blocks) {
      if (local.placement.global_shape != shape || !is_within(block, shape))
        return {};  // it is wrong in another way
      double& sum = block.extent == local.placement.global_shape ? own.replicated : own.sharded;
      sum = together(sum, powers(gradient->second, {block.global_offset, block.extent}, train.norm),
                     train.norm);
    }
  }
  return own;
}

}  // namespace

std::optional<std::string> norm_finding(const NormParts& parts, const std::vector<double>& by_rank) {
  const auto explains_all = [&](const Way& way) {
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      const double norm = way.norm(rank);
      if (!(std::fabs(by_rank[rank] - norm) <= 1e-9 * std::fabs(norm))) return false;
    }
    return true;
  };
  if (explains_all(same_everywhere("", norm_of(parts)))) return std::nullopt;
  for (const auto& ways :
       {std::isinf(parts.p) ? ways_of_largest(parts) : ways_of_sums(parts), ways_of_one_tensor(parts)}) {
    const auto way = std::find_if(ways.begin(), ways.end(), explains_all);
    if (way != ways.end()) return way->what;
  }
  return std::nullopt;
}

std::optional<std::string> norm_finding(const Request& request, const std::vector<LocalTensor>& answer,
                                        Communicator& ranks) {
  const TrainProblem& train = request.problem.train;
  const Gradients gradients = first_gradients(request.problem);
  NormParts parts{train.norm, {}, 0, {}};
  for (const auto& [name, gradient] : gradients) {
    const Shape& shape = gradient.value.shape;
    parts.by_tensor[name] = powers(gradient, {Shape(shape.size(), 0), shape}, train.norm);
  }
  const RankNorm own = own_norm(train, answer, gradients);
  parts.replicated = own.replicated;
  std::vector<double> answered;
  Packer packer;
  packer.put(own.sharded).put(own.answered);
  for (const std::string& bytes : gather_bytes(ranks, packer.bytes())) {
    Unpacker unpacker(bytes);
    parts.sharded.push_back(unpacker.get<double>());
    answered.push_back(unpacker.get<double>());
  }
  return norm_finding(parts, answered);
}

}  // namespace tpc
