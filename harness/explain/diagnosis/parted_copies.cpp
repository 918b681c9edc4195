// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/parted_copies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/explain/diagnosis/evidence.hpp"
#include "harness/judge/inputs/inputs.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

constexpr std::int64_t most_elements_of_a_copy = std::int64_t{1} << 16;  // of gains and biases
constexpr double rounding = 1e-5;                                        // two steps of f32 apart are alike

bool is_of_a_norm(const std::string& parameter) { return parameter.find("norm") != std::string::npos; }

// Nothing where some rank does not hold it whole.
std::optional<bool> are_alike(const Shape& shape, const std::vector<Piece>& pieces, int ranks) {
  if (static_cast<int>(pieces.size()) != ranks) return {};
  for (const Piece& piece : pieces)
    if (piece.box.extent != shape) return {};
  return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    const std::vector<double>& first = pieces.front().values;
    return distance(piece.values, first) <= rounding * norm(first);
  });
}

}  // namespace

std::string parted_text(const std::vector<std::string>& parted, const std::vector<std::string>& alike,
                        bool sequence_parallel) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> some(
      parted.begin(), parted.begin() + static_cast<std::ptrdiff_t>(std::min(most, parted.size())));
  std::string text =
      fmt::format("copies of {}{} are no longer alike on all ranks", joined(some, ", "),
                  parted.size() > most ? fmt::format(" and {} more parameters", parted.size() - most) : "");
  const bool all_norms = std::any_of(parted.begin(), parted.end(), is_of_a_norm) &&
                         std::none_of(alike.begin(), alike.end(), is_of_a_norm);
  if (sequence_parallel && all_norms)
    text +=
        ": of all norms, whose gradients sequence parallelism leaves as parts of a sum; no step adds them up "
        "(as with faults TP-15 and TP-18)";
  else if (sequence_parallel && !alike.empty() && std::any_of(parted.begin(), parted.end(), is_of_a_norm))
    text += fmt::format(", and those of {} are: the sum over the ranks leaves some out", joined(alike, ", "));
  return text;
}

std::optional<std::string> parted_copies(const Request& request, const std::vector<LocalTensor>& answer,
                                         Communicator& ranks) {
  const std::string prefix = step_name(request.problem.train.reports.front(), "");
  std::vector<std::string> parted;
  std::vector<std::string> alike;
  for (const InputSpec& input : request.problem.inputs) {
    const bool small = input.shape.size() == 1 && element_count(input.shape) <= most_elements_of_a_copy;
    if (!small || is_integral(input.generator)) continue;
    const auto same =
        are_alike(input.shape, gather_pieces(answer, prefix + input.name, ranks, most_elements_of_a_copy),
                  ranks.size());
    if (same) (*same ? alike : parted).push_back(input.name);
  }
  if (parted.empty()) return {};
  return parted_text(parted, alike, request.sharding.sequence_parallel != SequenceParallel::off);
}

}  // namespace tpc
