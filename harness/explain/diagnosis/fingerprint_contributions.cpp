// SPDX-License-Identifier: Apache-2.0
// A sum over ranks of which a term is missing, counted twice, or never added up.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/explain/diagnosis/fingerprints.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

std::vector<double> plus(std::vector<double> a, const std::vector<double>& b, double factor) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

// The factor at which `direction` explains the error.
std::optional<double> factor_along(const std::vector<double>& error, const std::vector<double>& direction,
                                   double epsilon) {
  double product = 0;
  double squares = 0;
  for (std::size_t i = 0; i < error.size(); ++i) {
    product += error[i] * direction[i];
    squares += direction[i] * direction[i];
  }
  const double factor = product / squares;
  if (!(squares > 0) || !explains(norm(plus(error, direction, -factor)), norm(error), epsilon)) return {};
  return factor;
}

bool is_near(double value, double known) { return std::fabs(value - known) < 1e-6; }

std::string counted(double times) {
  if (is_near(times, 0)) return "is missing";
  if (is_near(times, 2)) return "is counted twice";
  return fmt::format("is counted {:.6g} times", times);
}

std::vector<double> part_of(const TensorEvidence& tensor, const std::vector<double>& whole, const Box& box) {
  std::vector<double> part;
  for_each_run_of(box, [&](const Shape& index, std::int64_t count) {
    const auto* first = whole.data() + linear_index(tensor.shape, index);
    part.insert(part.end(), first, first + count);
  });
  return part;
}

bool is_right(const TensorEvidence& tensor, const std::vector<double>& error) {
  return std::all_of(error.begin(), error.end(), [&](double e) { return std::fabs(e) <= tensor.threshold; });
}

Finding find_own_term(const TensorEvidence& tensor, const Contributions& sum) {
  for (const Piece& piece : tensor.pieces) {
    const auto rank = static_cast<std::size_t>(piece.rank);
    if (rank >= sum.terms.size()) return {};
    const std::vector<double> right = right_part(tensor, piece.box);
    const std::vector<double> term = part_of(tensor, sum.terms[rank], piece.box);
    const double error = distance(piece.values, right);
    if (is_right(tensor, plus(piece.values, right, -1)) &&
        distance(term, right) <= tensor.epsilon * norm(right))
      continue;  // the others have nothing to add
    const std::vector<double> with_rest = plus(term, part_of(tensor, sum.rest, piece.box), 1);
    if (!explains(distance(piece.values, term), error, tensor.epsilon) &&
        !explains(distance(piece.values, with_rest), error, tensor.epsilon))
      return {};
  }
  return fmt::format("each rank holds its own term alone ({}): the sum over the ranks is missing",
                     sum.meaning);
}

// What of a sum is wrong by one factor, on which ranks.
struct WrongTerm {
  double times = 1;
  std::set<int> ranks;
};
std::optional<WrongTerm> wrong_term(const TensorEvidence& tensor, const std::vector<double>& term) {
  WrongTerm wrong;
  std::int64_t elements = 0;
  for (const Piece& piece : tensor.pieces) {
    const std::vector<double> error = plus(piece.values, right_part(tensor, piece.box), -1);
    if (is_right(tensor, error)) continue;
    const auto factor = factor_along(error, part_of(tensor, term, piece.box), tensor.epsilon);
    if (!factor || (!wrong.ranks.empty() && !is_near(1 + *factor, wrong.times))) return {};
    wrong.times = 1 + *factor;
    wrong.ranks.insert(piece.rank);
    elements += static_cast<std::int64_t>(error.size());
  }
  // A few numbers are some multiple of anything.
  constexpr std::int64_t enough = 4;
  const auto t = static_cast<double>(tensor.ranks);
  const bool telling = is_near(wrong.times, 0) || is_near(wrong.times, 2) || is_near(wrong.times, t) ||
                       is_near(wrong.times, 1 / t);
  if (wrong.ranks.empty() || (elements < enough && !telling)) return {};
  return wrong;
}

std::string where(const TensorEvidence& tensor, const std::set<int>& ranks) {
  if (static_cast<int>(ranks.size()) == tensor.ranks) return "";
  return fmt::format(" on rank{} {}", ranks.size() == 1 ? "" : "s",
                     joined(std::vector<int>(ranks.begin(), ranks.end()), ", "));
}

}  // namespace

Finding find_contribution(const TensorEvidence& tensor, const Contributions& sum) {
  if (tensor.pieces.empty()) return {};
  if (const Finding own = find_own_term(tensor, sum)) return own;
  for (std::size_t r = 0; r < sum.terms.size(); ++r)
    if (const auto term = wrong_term(tensor, sum.terms[r]))
      return fmt::format("the term of rank {} ({}) {}{}", r, sum.meaning, counted(term->times),
                         where(tensor, term->ranks));
  if (const auto rest = wrong_term(tensor, sum.rest)) {
    const std::string how =
        is_near(rest->times, tensor.ranks)         ? fmt::format("is counted T = {} times", tensor.ranks)
        : is_near(rest->times, 1.0 / tensor.ranks) ? fmt::format("is counted 1/T = 1/{}", tensor.ranks)
                                                   : counted(rest->times);
    return "what is added beside the sum over the ranks, such as a bias, " + how + where(tensor, rest->ranks);
  }
  return {};
}

}  // namespace tpc
