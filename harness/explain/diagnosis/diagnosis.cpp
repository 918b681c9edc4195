// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "harness/explain/diagnosis/contributions.hpp"
#include "harness/explain/diagnosis/facts.hpp"
#include "harness/explain/diagnosis/gradient_norms.hpp"
#include "harness/explain/diagnosis/order.hpp"
#include "harness/explain/diagnosis/parted_copies.hpp"
#include "harness/explain/diagnosis/request_facts.hpp"
#include "harness/explain/misreadings/misreadings.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr std::size_t most_tensors = 3;  // that are looked at closely

std::optional<TensorEvidence> evidence_of(const Case& c, const std::string& name,
                                          const std::vector<LocalTensor>& got, const RightAnswer& right,
                                          Communicator& ranks) {
  const Expected& expected = right.tensors().at(name);
  if (element_count(expected.shape) > most_elements) return std::nullopt;
  TensorEvidence tensor;
  tensor.name = name;
  tensor.shape = expected.shape;
  tensor.right.assign(expected.values, expected.values + element_count(expected.shape));
  tensor.pieces = gather_pieces(got, name, ranks, most_elements);
  tensor.threshold = element_threshold(c, expected);
  tensor.epsilon = unit_roundoff(c.request.problem.dtype);
  tensor.ranks = ranks.size();
  tensor.counts = counts_of(c.request);
  return tensor;
}

bool is_gradient_of_table(const Problem& problem, const std::string& tensor) {
  const bool alone = problem.asks(Operation::vocab_embedding) && tensor == "grad.weight";
  return alone || tensor == "grad.embedding.weight" || tensor.ends_with("positions.weight");
}

std::vector<std::string> fingerprints_of(const Case& c, const TensorEvidence& tensor, Communicator& ranks) {
  std::vector<std::string> lines;
  const std::vector<Contributions> sums = contributions_to(tensor, c.request, ranks);
  const auto heads = head_rows(c.request.problem.model, tensor.name);
  for (const std::string& finding : fingerprints(tensor, sums, heads, reads_of(c.request, tensor.name)))
    lines.push_back(fmt::format("{}: {}", tensor.name, finding));
  if (is_gradient_of_table(c.request.problem, tensor.name))
    if (const Finding finding = find_rows_without_gradient(tensor))
      lines.push_back(fmt::format("{}: {}", tensor.name, *finding));
  return lines;
}

// Of the first step, with masks that the baseline can draw itself.
bool knows_gradients(const Problem& problem) {
  return problem.asks(Operation::train) && is_solved_quickly(problem) &&
         (problem.random.profile == "invariant" || masks_of(problem).empty());
}

}  // namespace

std::vector<std::string> wrong_tensors(const Case& c, const ApartByName& distances,
                                       const RightAnswer& right) {
  std::vector<std::string> wrong;
  for (const auto& [name, apart] : distances) {
    const auto expected = right.tensors().find(name);
    if (expected == right.tensors().end()) continue;
    const TensorDistances between{name, expected->second, apart.error, {}, false};
    if (!explanation_of(c, {between}).unexplained.empty()) wrong.push_back(name);
  }
  return in_order_of_execution(std::move(wrong));
}

Impression look_at(const Case& c, const std::vector<LocalTensor>& got, const RightAnswer& right,
                   Communicator& ranks) {
  if (c.tier == Tier::statistics)
    return {{"values are drawn: none is right or wrong by itself, they are judged by how they relate"},
            false};
  Impression impression;
  std::vector<std::string>& lines = impression.lines;
  const ApartByName distances = over_ranks(apart(got, right.tensors()), right.tensors(), ranks);
  const std::vector<std::string> wrong = wrong_tensors(c, distances, right);
  impression.any_wrong = !wrong.empty();
  if (wrong.empty()) lines = {"every tensor is right by itself"};
  for (std::size_t i = 0; i < wrong.size() && i < most_tensors; ++i) {
    const auto tensor = evidence_of(c, wrong[i], got, right, ranks);
    if (!tensor) {
      lines.push_back(fmt::format("{}: too large to be looked at closely", wrong[i]));
      continue;
    }
    if (i == 0) {
      lines.push_back("first wrong: " + to_text(facts_of(*tensor), *tensor, c.request.mesh));
      const std::vector<std::string> others(wrong.begin() + 1, wrong.end());
      if (!others.empty()) lines.push_back("wrong as well: " + joined(others, ", "));
    }
    for (const std::string& line : fingerprints_of(c, *tensor, ranks)) lines.push_back(line);
  }
  if (std::find(wrong.begin(), wrong.end(), "gradient_norm") != wrong.end() &&
      knows_gradients(c.request.problem))
    if (const auto finding = norm_finding(c.request, got, ranks))
      lines.push_back("gradient_norm: " + *finding);
  if (c.request.problem.asks(Operation::train) && impression.any_wrong)
    if (const auto finding = parted_copies(c.request, got, ranks)) lines.push_back(*finding);
  return impression;
}

std::vector<TensorDistances> distances_to(const std::vector<LocalTensor>& got, const RightAnswer& right,
                                          const std::vector<LocalTensor>& suspect, Communicator& ranks) {
  const ApartByName to_right = over_ranks(apart(got, right.tensors()), right.tensors(), ranks);
  const ApartByName to_suspect = apart_from_answer(got, suspect, right.tensors(), ranks);
  std::vector<TensorDistances> tensors;
  for (const auto& [name, distance] : to_right) {
    const auto expected = right.tensors().find(name);
    if (expected == right.tensors().end()) continue;
    const auto other = to_suspect.find(name);
    const bool all_there = other != to_suspect.end() && other->second.compared == other->second.held;
    tensors.push_back({name, expected->second, distance.error,
                       other == to_suspect.end() ? TensorError{} : other->second.error, all_there});
  }
  return tensors;
}

}  // namespace tpc
