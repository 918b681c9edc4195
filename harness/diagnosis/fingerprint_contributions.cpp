// SPDX-License-Identifier: Apache-2.0
// A sum over ranks of which a term is missing, counted twice, or never added up.
#include <fmt/format.h>

#include <cmath>

#include "harness/diagnosis/fingerprints.hpp"

namespace tpc {

namespace {

std::vector<double> plus(std::vector<double> a, const std::vector<double>& b, double factor) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  return a;
}

// The same on every rank, or nothing: what is looked for is.
const std::vector<double>* common_value(const TensorEvidence& tensor) {
  if (tensor.pieces.empty()) return nullptr;
  for (const Piece& piece : tensor.pieces)
    if (!is_whole(tensor, piece) ||
        distance(piece.values, tensor.pieces[0].values) > 64 * tensor.epsilon * norm(piece.values))
      return nullptr;
  return &tensor.pieces[0].values;
}

Finding find_own_term(const TensorEvidence& tensor, const Contributions& sum) {
  for (const Piece& piece : tensor.pieces) {
    const auto rank = static_cast<std::size_t>(piece.rank);
    if (!is_whole(tensor, piece) || rank >= sum.terms.size()) return {};
    const double error = distance(piece.values, tensor.right);
    const bool alone = explains(distance(piece.values, sum.terms[rank]), error, tensor.epsilon);
    const bool with_rest =
        explains(distance(piece.values, plus(sum.terms[rank], sum.rest, 1)), error, tensor.epsilon);
    if (!alone && !with_rest) return {};
  }
  return fmt::format("each rank holds its own term alone ({}): the sum over the ranks is missing",
                     sum.meaning);
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

}  // namespace

Finding find_contribution(const TensorEvidence& tensor, const Contributions& sum) {
  if (tensor.pieces.empty()) return {};
  if (const Finding own = find_own_term(tensor, sum)) return own;
  const std::vector<double>* value = common_value(tensor);
  if (value == nullptr) return {};
  const std::vector<double> error = plus(*value, tensor.right, -1);
  for (std::size_t r = 0; r < sum.terms.size(); ++r)
    if (const auto factor = factor_along(error, sum.terms[r], tensor.epsilon))
      return fmt::format("the term of rank {} ({}) {}", r, sum.meaning, counted(1 + *factor));
  if (const auto factor = factor_along(error, sum.rest, tensor.epsilon)) {
    const double times = 1 + *factor;
    const std::string how =
        is_near(times, tensor.ranks)         ? fmt::format("is counted T = {} times", tensor.ranks)
        : is_near(times, 1.0 / tensor.ranks) ? fmt::format("is counted 1/T = 1/{}", tensor.ranks)
                                             : counted(times);
    return "what is added beside the sum over the ranks, such as a bias, " + how;
  }
  return {};
}

}  // namespace tpc
