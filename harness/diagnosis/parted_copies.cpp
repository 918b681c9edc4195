// SPDX-License-Identifier: Apache-2.0
#include "harness/diagnosis/parted_copies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/diagnosis/evidence.hpp"
#include "harness/inputs/inputs.hpp"
#include "harness/join.hpp"

namespace tpc {

namespace {

constexpr std::int64_t most_elements_of_a_copy = 4096;  // gains and biases

bool is_of_a_norm(const std::string& parameter) { return parameter.find("norm") != std::string::npos; }

// Nothing where some rank does not hold it whole.
std::optional<bool> are_alike(const Shape& shape, const std::vector<Piece>& pieces, int ranks) {
  if (static_cast<int>(pieces.size()) != ranks) return {};
  for (const Piece& piece : pieces)
    if (piece.box.extent != shape) return {};
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](const Piece& piece) { return piece.values == pieces.front().values; });
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

std::optional<std::string> parted_copies(const Request& request, const std::vector<std::string>& wrong,
                                         const std::vector<LocalTensor>& answer, Communicator& ranks) {
  const std::string prefix = step_name(request.problem.train.reports.front(), "");
  std::vector<std::string> parted;
  std::vector<std::string> alike;
  for (const std::string& name : wrong) {
    if (!name.starts_with(prefix)) continue;
    const InputSpec& parameter = input_named(request.problem, name.substr(prefix.size()));
    if (element_count(parameter.shape) > most_elements_of_a_copy) continue;
    const auto same =
        are_alike(parameter.shape, gather_pieces(answer, name, ranks, most_elements_of_a_copy), ranks.size());
    if (same) (*same ? alike : parted).push_back(parameter.name);
  }
  if (parted.empty()) return {};
  return parted_text(parted, alike, request.sharding.sequence_parallel != SequenceParallel::off);
}

}  // namespace tpc
