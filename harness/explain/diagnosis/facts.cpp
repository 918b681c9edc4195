// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/judge/compare/copies.hpp"
#include "harness/values/join.hpp"

namespace tpc {

namespace {

void widen(Box& box, const Shape& index) {
  if (box.offset.empty() && box.extent.empty()) {
    box = {index, Shape(index.size(), 1)};
    return;
  }
  for (std::size_t d = 0; d < index.size(); ++d) {
    const std::int64_t end = std::max(box.offset[d] + box.extent[d], index[d] + 1);
    box.offset[d] = std::min(box.offset[d], index[d]);
    box.extent[d] = end - box.offset[d];
  }
}

std::string range_text(const Box& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < box.offset.size(); ++d) {
    const std::int64_t last = box.offset[d] + box.extent[d] - 1;
    text += fmt::format("{}{}", d > 0 ? ", " : "", box.offset[d]);
    if (last > box.offset[d]) text += fmt::format("..{}", last);
  }
  return text + "]";
}

}  // namespace

Facts facts_of(const TensorEvidence& tensor) {
  Facts facts;
  std::set<std::int64_t> wrong;
  std::set<int> ranks;
  for (const Piece& piece : tensor.pieces) {
    std::size_t next = 0;
    for_each_run_of(piece.box, [&](const Shape& index, std::int64_t count) {
      const std::int64_t first = linear_index(tensor.shape, index);
      for (std::int64_t i = first; i < first + count; ++i, ++next) {
        const double difference = piece.values[next] - tensor.right[static_cast<std::size_t>(i)];
        const double error =
            std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::fabs(difference);
        if (!(error > tensor.threshold)) continue;
        wrong.insert(i);
        ranks.insert(piece.rank);
        if (error <= facts.largest) continue;
        facts.largest = error;
        facts.worst = i;
        facts.worst_rank = piece.rank;
        facts.got = piece.values[next];
      }
    });
  }
  for (const std::int64_t i : wrong) widen(facts.box, index_at(tensor.shape, i));
  facts.wrong = static_cast<std::int64_t>(wrong.size());
  facts.ranks.assign(ranks.begin(), ranks.end());
  if (facts.wrong > 0) facts.right = tensor.right[static_cast<std::size_t>(facts.worst)];
  return facts;
}

std::string to_text(const Facts& facts, const TensorEvidence& tensor, const MeshSpec& mesh) {
  const std::int64_t all = element_count(tensor.shape);
  if (facts.wrong == 0)
    return fmt::format("{} {}: no single element stands out, but together they are too far away", tensor.name,
                       to_string(tensor.shape));
  const bool everywhere = static_cast<int>(facts.ranks.size()) == tensor.ranks;
  const std::string who = facts.ranks.size() == 1 ? rank_label(mesh, facts.ranks[0])
                          : everywhere            ? "all ranks"
                                                  : "ranks " + joined(facts.ranks, ", ");
  std::string text = fmt::format("{} {}: {} of {} elements are wrong, on {}", tensor.name,
                                 to_string(tensor.shape), facts.wrong, all, who);
  if (facts.wrong < all) text += ", within " + range_text(facts.box);
  double magnitude = std::numeric_limits<double>::min();
  for (const double value : tensor.right) magnitude = std::max(magnitude, std::fabs(value));
  return text + fmt::format("; the largest error, at {} on {}, is {:.2g} eps: {} instead of {}",
                            to_string(index_at(tensor.shape, facts.worst)),
                            rank_label(mesh, facts.worst_rank), facts.largest / (tensor.epsilon * magnitude),
                            facts.got, facts.right);
}

}  // namespace tpc
