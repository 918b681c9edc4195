// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/fingerprints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/values/join.hpp"

namespace tpc {

namespace {

// What a rank holds and what it should.
struct Pair {
  const Piece* piece;
  std::vector<double> right;
};

std::vector<Pair> pairs_of(const TensorEvidence& tensor) {
  std::vector<Pair> pairs;
  for (const Piece& piece : tensor.pieces) pairs.push_back({&piece, right_part(tensor, piece.box)});
  return pairs;
}

// How far all ranks together are from what `guess` makes of what is right.
template <class Guess>
double residual(const std::vector<Pair>& pairs, const Guess& guess) {
  double squares = 0;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.right.size(); ++i) {
      const double difference = pair.piece->values[i] - guess(pair.right[i]);
      squares += difference * difference;
    }
  return std::sqrt(squares);
}

double error_of(const std::vector<Pair>& pairs) {
  return residual(pairs, [](double right) { return right; });
}

// A factor that is made of the number of ranks, or of what else there is a number of.
Finding described(double value, const TensorEvidence& tensor) {
  const int ranks = tensor.ranks;
  const auto t = static_cast<double>(ranks);
  const auto near = [value](double known) { return std::fabs(value - known) < 1e-6 * std::fabs(known); };
  if (ranks > 1 && near(t)) return fmt::format("T = {}", ranks);
  if (ranks > 1 && near(1 / t)) return fmt::format("1/T = 1/{}", ranks);
  if (ranks > 1 && near(t * t)) return fmt::format("T² = {}", ranks * ranks);
  if (ranks > 1 && near(1 / (t * t))) return fmt::format("1/T² = 1/{}", ranks * ranks);
  if (ranks > 1 && near(std::sqrt(t))) return fmt::format("sqrt T = sqrt {}", ranks);
  if (ranks > 1 && near(1 / std::sqrt(t))) return fmt::format("1/sqrt T = 1/sqrt {}", ranks);
  if (ranks > 2 && near(t - 1)) return fmt::format("T - 1 = {}", ranks - 1);
  for (const auto& [name, count] : tensor.counts) {
    if (count > 1 && near(count)) return fmt::format("{} ({})", count, name);
    if (count > 1 && near(1 / count)) return fmt::format("1/{} ({})", count, name);
    for (const auto& [other_name, other] : tensor.counts)
      if (count != other && other > 0 && near(count / other))
        return fmt::format("{}/{} ({} by {})", count, other, name, other_name);
  }
  return {};
}

bool same(const TensorEvidence& tensor, const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && distance(a, b) <= 64 * tensor.epsilon * norm(b) && norm(b) > 0;
}

}  // namespace

bool explains(double residual, double error, double epsilon) {
  return error > 0 && residual <= std::max(1e-6, 64 * epsilon) * error;
}

Finding find_not_finite(const TensorEvidence& tensor) {
  std::int64_t count = 0;
  for (const Piece& piece : tensor.pieces)
    for (const double value : piece.values) count += std::isfinite(value) ? 0 : 1;
  if (count == 0) return {};
  return fmt::format("{} values are infinite or no numbers: memory that was never written, or an overflow",
                     count);
}

Finding find_zeros(const TensorEvidence& tensor) {
  std::vector<int> zero;
  for (const Pair& pair : pairs_of(tensor))
    if (norm(pair.piece->values) == 0 && norm(pair.right) > 0) zero.push_back(pair.piece->rank);
  zero.erase(std::unique(zero.begin(), zero.end()), zero.end());
  if (zero.empty()) return {};
  if (static_cast<int>(zero.size()) == tensor.ranks) return "all zeros on every rank: it was never computed";
  return fmt::format("all zeros on rank{} {}", zero.size() == 1 ? "" : "s", joined(zero, ", "));
}

Finding find_ratio(const TensorEvidence& tensor) {
  const std::vector<Pair> pairs = pairs_of(tensor);
  double product = 0;
  double squares = 0;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.right.size(); ++i) {
      product += pair.right[i] * pair.piece->values[i];
      squares += pair.right[i] * pair.right[i];
    }
  const double ratio = product / squares;
  const double rest = residual(pairs, [ratio](double right) { return ratio * right; });
  if (!std::isfinite(ratio) || ratio == 0 || !explains(rest, error_of(pairs), tensor.epsilon)) return {};
  const Finding known = described(ratio, tensor);
  if (element_count(tensor.shape) < 2) {  // any two numbers have a ratio
    if (!known) return {};
    return fmt::format("it is {} times what it should be", *known);
  }
  return fmt::format("every element is {} times what it should be",
                     known.value_or(fmt::format("{:.6g}", ratio)));
}

Finding find_offset(const TensorEvidence& tensor) {
  const std::vector<Pair> pairs = pairs_of(tensor);
  double sum = 0;
  std::int64_t count = 0;
  for (const Pair& pair : pairs)
    for (std::size_t i = 0; i < pair.right.size(); ++i, ++count) sum += pair.piece->values[i] - pair.right[i];
  const double offset = count > 0 ? sum / static_cast<double>(count) : 0;
  const double rest = residual(pairs, [offset](double right) { return right + offset; });
  if (offset == 0 || !explains(rest, error_of(pairs), tensor.epsilon)) return {};
  const double log_ranks = std::log(static_cast<double>(tensor.ranks));
  if (tensor.ranks > 1 && std::fabs(std::fabs(offset) - log_ranks) < 1e-6 * log_ranks)
    return fmt::format(
        "every element is off by {}log T = {:.6g}: a sum of exponentials over the ranks is counted {}",
        offset > 0 ? "+" : "-", offset, offset > 0 ? "T times" : "1/T");
  if (element_count(tensor.shape) < 2) return {};
  return fmt::format("every element is off by the same {:.6g}", offset);
}

Finding find_own_partials(const TensorEvidence& tensor) {
  if (static_cast<int>(tensor.pieces.size()) != tensor.ranks || tensor.ranks < 2) return {};
  std::vector<double> sum(tensor.right.size(), 0);
  double spread = 0;
  for (const Piece& piece : tensor.pieces) {
    if (!is_whole(tensor, piece)) return {};
    spread = std::max(spread, distance(piece.values, tensor.pieces[0].values));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += piece.values[i];
  }
  if (spread == 0) return {};
  const double error = error_of(pairs_of(tensor));
  if (explains(distance(sum, tensor.right), error, tensor.epsilon))
    return "each rank holds its own part of the sum, and all together are right: a sum over the ranks is "
           "missing";
  for (double& value : sum) value /= tensor.ranks;
  if (explains(distance(sum, tensor.right), error, tensor.epsilon))
    return "each rank holds something else, and their mean is right: a mean over the ranks is missing";
  return "ranks that should hold equal copies do not";
}

Finding find_shards_elsewhere(const TensorEvidence& tensor) {
  const std::vector<Pair> pairs = pairs_of(tensor);
  std::vector<std::string> moves;
  std::vector<int> from;
  for (const Pair& pair : pairs) {
    if (same(tensor, pair.piece->values, pair.right)) continue;
    const auto owner = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& other) {
      return other.piece->box != pair.piece->box && same(tensor, pair.piece->values, other.right);
    });
    if (owner == pairs.end()) return {};  // wrong in another way
    from.push_back(owner->piece->rank);
    moves.push_back(fmt::format("rank {} holds that of rank {}", pair.piece->rank, owner->piece->rank));
  }
  if (moves.empty()) return {};
  const bool all_the_same =
      from.size() > 1 && std::all_of(from.begin(), from.end(), [&](int r) { return r == from[0]; });
  if (all_the_same) return fmt::format("every rank holds the shard of rank {}", from[0]);
  return "shards are in the wrong place: " + joined(moves, ", ");
}

Finding find_transposed(const TensorEvidence& tensor) {
  bool any = false;
  for (const Pair& pair : pairs_of(tensor)) {
    const Shape& extent = pair.piece->box.extent;
    if (extent.size() < 2) return {};
    if (same(tensor, pair.piece->values, pair.right)) continue;
    bool found = false;
    for (std::size_t d = 0; d + 1 < extent.size() && !found; ++d) {
      if (extent[d] < 2 || extent[d + 1] < 2) continue;
      std::int64_t outer = 1;
      for (std::size_t e = 0; e < d; ++e) outer *= extent[e];
      const std::int64_t inner =
          static_cast<std::int64_t>(pair.right.size()) / (outer * extent[d] * extent[d + 1]);
      std::vector<double> swapped;
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t j = 0; j < extent[d + 1]; ++j)
          for (std::int64_t i = 0; i < extent[d]; ++i)
            for (std::int64_t k = 0; k < inner; ++k)
              swapped.push_back(pair.right[static_cast<std::size_t>(
                  ((o * extent[d] + i) * extent[d + 1] + j) * inner + k)]);
      found = same(tensor, pair.piece->values, swapped);
    }
    if (!found) return {};
    any = true;
  }
  if (!any) return {};
  return "transposed: the elements lie in memory as if two neighbouring dims were exchanged";
}

Finding find_wrong_ranks(const TensorEvidence& tensor) {
  std::vector<int> wrong;
  std::vector<int> right;
  for (const Pair& pair : pairs_of(tensor)) {
    double largest = 0;
    for (std::size_t i = 0; i < pair.right.size(); ++i)
      largest = std::max(largest, std::fabs(pair.piece->values[i] - pair.right[i]));
    (largest > tensor.threshold ? wrong : right).push_back(pair.piece->rank);
  }
  for (auto* list : {&wrong, &right}) list->erase(std::unique(list->begin(), list->end()), list->end());
  if (wrong.empty() || right.empty()) return {};
  return fmt::format("wrong on rank{} {} alone; right on {}", wrong.size() == 1 ? "" : "s",
                     joined(wrong, ", "), joined(right, ", "));
}

Finding find_wrong_heads(const TensorEvidence& tensor, const HeadRows& rows) {
  if (tensor.shape.empty() || rows.rows_per_head < 1 || tensor.shape[0] % rows.rows_per_head != 0) return {};
  const std::int64_t heads = tensor.shape[0] / rows.rows_per_head;
  std::vector<bool> is_wrong(static_cast<std::size_t>(heads), false);
  for (const Pair& pair : pairs_of(tensor)) {
    std::size_t next = 0;
    for_each_run_of(pair.piece->box, [&](const Shape& index, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, ++next) {
        const std::int64_t row = tensor.shape.size() == 1 ? index[0] + i : index[0];
        if (std::fabs(pair.piece->values[next] - pair.right[next]) > tensor.threshold)
          is_wrong[static_cast<std::size_t>(row / rows.rows_per_head)] = true;
      }
    });
  }
  std::vector<int> wrong;
  for (std::size_t h = 0; h < is_wrong.size(); ++h)
    if (is_wrong[h]) wrong.push_back(static_cast<int>(h));
  if (wrong.empty() || static_cast<std::int64_t>(wrong.size()) == heads) return {};
  return fmt::format("wrong only in the rows of {} {} of {}", rows.heads, joined(wrong, ", "), heads);
}

std::vector<std::string> fingerprints(const TensorEvidence& tensor, const std::vector<Contributions>& sums,
                                      const std::optional<HeadRows>& heads,
                                      const std::optional<TableReads>& reads) {
  std::vector<std::string> found;
  const auto add = [&](const Finding& finding) {
    if (finding) found.push_back(*finding);
  };
  for (const auto find : {find_not_finite, find_zeros, find_ratio, find_offset, find_shards_elsewhere,
                          find_transposed, find_own_partials})
    add(find(tensor));
  for (const Contributions& sum : sums) add(find_contribution(tensor, sum));
  if (reads) add(find_foreign_rows(tensor, *reads));
  add(find_wrong_ranks(tensor));
  if (heads) add(find_wrong_heads(tensor, *heads));
  return found;
}

}  // namespace tpc
