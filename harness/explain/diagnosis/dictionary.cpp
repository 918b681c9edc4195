// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/dictionary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/explain/diagnosis/order.hpp"
#include "harness/judge/inputs/masks.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr std::size_t most_candidates = 3;

// In the tiers without tolerances, and of masks, equality counts.
double ratio(const Case& c, const TensorDistances& tensor, const TensorError& error) {
  const bool by_equality = is_mask(tensor.name) || c.tier == Tier::statistics;
  if (by_equality) return error.equal ? 0 : std::numeric_limits<double>::infinity();
  return error_ratio(c, tensor.expected, error);
}

// What is wrong is no longer exact: another order of summation rounds it in another way.
bool is_rounding(const Case& c, const TensorDistances& tensor) {
  constexpr double roundings = 16;
  if (c.tier != Tier::exact || is_mask(tensor.name)) return ratio(c, tensor, tensor.to_suspect) <= 1;
  return relative_error(tensor.expected, tensor.to_suspect) <=
         roundings * unit_roundoff(c.request.problem.dtype);
}

bool is_near_suspect(const Case& c, const TensorDistances& tensor) {
  if (!tensor.compared || !is_rounding(c, tensor)) return false;
  return std::sqrt(tensor.to_suspect.squares) <= nearer_than_right * std::sqrt(tensor.to_right.squares);
}

std::string who(const Suspect& suspect) {
  if (suspect.source.empty()) return suspect.title;
  return fmt::format("{}, {} ({})", suspect.id, suspect.title, suspect.source);
}

std::string presented(const Suspect& suspect) {
  return (suspect.source.empty() ? "" : "fault ") + who(suspect);
}

std::string how_near(const Explanation& explanation) {
  if (explanation.distance == 0) return "to the bit";
  return fmt::format("within {:.0e}", explanation.distance);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 4;
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  std::string text = joined(shown, ", ");
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string what_is_alike(const Candidate& best) {
  const std::string suspect = presented(best.suspect);
  if (best.explanation.by_not_refusing)
    return fmt::format("what cannot be done is not refused, as by the reference with {}", suspect);
  if (best.explanation.by_words)
    return fmt::format("your failure reads as that of the reference with {}", suspect);
  return fmt::format("your output equals the reference with {}, {}", suspect, how_near(best.explanation));
}

std::string certain_sentence(const std::vector<Candidate>& full) {
  std::string text = what_is_alike(full.front());
  if (full.size() > 1) {
    text += "; on this case the same as";
    for (std::size_t i = 1; i < full.size(); ++i)
      text += fmt::format("{} {}", i > 1 ? ";" : "", who(full[i].suspect));
  }
  return text;
}

std::string partial_sentence(const Candidate& candidate) {
  return fmt::format("{} explains {}, {}, but not {}", presented(candidate.suspect),
                     listed(candidate.explanation.explained), how_near(candidate.explanation),
                     listed(candidate.explanation.unexplained));
}

std::vector<Candidate> those_that(const std::vector<Candidate>& candidates,
                                  bool (Explanation::*holds)() const) {
  std::vector<Candidate> found;
  for (const Candidate& candidate : candidates)
    if ((candidate.explanation.*holds)()) found.push_back(candidate);
  return found;
}

std::vector<Candidate> full_ones(const std::vector<Candidate>& candidates) {
  std::vector<Candidate> full = those_that(candidates, &Explanation::full);
  std::stable_sort(full.begin(), full.end(), [](const Candidate& a, const Candidate& b) {
    return a.explanation.distance < b.explanation.distance;
  });
  const auto rounds = [](const Candidate& candidate) { return candidate.explanation.by_rounding; };
  if (!std::all_of(full.begin(), full.end(), rounds)) std::erase_if(full, rounds);
  return full;
}

}  // namespace

Explanation explanation_of(const Case& c, const std::vector<TensorDistances>& tensors) {
  Explanation explanation;
  for (const TensorDistances& tensor : tensors) {
    if (!(ratio(c, tensor, tensor.to_right) > 1)) {
      if (!tensor.compared || !(ratio(c, tensor, tensor.to_suspect) <= 1))
        explanation.contradicted.push_back(tensor.name);
      continue;
    }
    if (!is_near_suspect(c, tensor)) {
      explanation.unexplained.push_back(tensor.name);
      continue;
    }
    explanation.explained.push_back(tensor.name);
    explanation.by_rounding |= ratio(c, tensor, tensor.to_suspect) > 1;
    explanation.distance = std::max(explanation.distance, relative_error(tensor.expected, tensor.to_suspect));
  }
  for (auto* names : {&explanation.explained, &explanation.unexplained, &explanation.contradicted})
    *names = in_order_of_execution(std::move(*names));
  return explanation;
}

std::vector<std::string> verdict_on(const std::vector<Candidate>& candidates) {
  const std::vector<Candidate> full = full_ones(candidates);
  if (!full.empty()) return {certain_sentence(full)};
  std::vector<Candidate> partial = those_that(candidates, &Explanation::partial);
  std::stable_sort(partial.begin(), partial.end(), [](const Candidate& a, const Candidate& b) {
    return a.explanation.explained.size() > b.explanation.explained.size();
  });
  if (partial.size() > most_candidates) partial.resize(most_candidates);
  std::vector<std::string> sentences;
  for (const Candidate& candidate : partial) sentences.push_back(partial_sentence(candidate));
  return sentences;
}

std::vector<std::string> certain_ids(const std::vector<Candidate>& candidates) {
  std::vector<std::string> ids;
  for (const Candidate& candidate : full_ones(candidates)) ids.push_back(candidate.suspect.id);
  return ids;
}

}  // namespace tpc
