// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/exact_rows.hpp"

#include <cmath>
#include <map>
#include <utility>

#include "harness/judge/inputs/inputs.hpp"
#include "harness/judge/inputs/kinds.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

constexpr int log2_unit = 20;

std::int64_t row_width(const InputSpec& input) {
  TPC_EXPECT(!input.shape.empty() && input.shape.back() > 0, "input '{}' of shape {} has no rows", input.name,
             to_string(input.shape));
  return input.shape.back();
}

PhiloxWords words_at(std::uint64_t seed, std::uint64_t stream, std::int64_t index) {
  return philox(seed, static_cast<std::uint64_t>(index), stream);
}

// The columns of a row in pairs whose entry in the norm_rows row is the same, and whose gain is. What is left
// over stays alone.
std::vector<std::pair<std::size_t, std::size_t>> equal_pairs(const std::vector<int>& codes,
                                                             const std::vector<double>& gain) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::map<std::pair<int, double>, std::size_t> waiting;
  for (std::size_t column = 0; column < codes.size(); ++column) {
    const auto kind = std::make_pair(codes[column], gain.empty() ? 1.0 : gain[column]);
    const auto found = waiting.find(kind);
    if (found == waiting.end()) {
      waiting.emplace(kind, column);
    } else {
      pairs.emplace_back(found->second, column);
      waiting.erase(found);
    }
  }
  return pairs;
}

}  // namespace

std::vector<int> norm_row(std::uint64_t seed, std::int64_t row, std::int64_t width) {
  TPC_EXPECT(width > 0 && width % 2 == 0, "exact norm rows need an even width, not {}", width);
  const std::int64_t twos = width / 8 / 2 * 2;
  const std::int64_t ones = width - 4 * twos;
  std::vector<int> codes(static_cast<std::size_t>(width), 0);
  for (std::int64_t i = 0; i < twos + ones; ++i)
    codes[static_cast<std::size_t>(i)] = (i < twos ? 2 : 1) * (i % 2 == 0 ? 1 : -1);
  const std::uint64_t stream = hash_name("norm_rows");
  for (std::int64_t i = width - 1; i > 0; --i) {
    const std::uint64_t word = words_at(seed, stream, row * width + i)[0];
    std::swap(codes[static_cast<std::size_t>(i)], codes[(word * static_cast<std::uint64_t>(i + 1)) >> 32U]);
  }
  return codes;
}

RunFiller norm_rows_filler(const Problem& problem, const InputSpec& input) {
  const std::int64_t width = row_width(input);
  return filler_by_rows(width, [width, seed = problem.seed](std::int64_t row, double* out) {
    for (const int code : norm_row(seed, row, width)) *out++ = std::ldexp(code, log2_unit);
  });
}

// The gradient of a norm's output: +a and -a on columns that the norm cannot tell apart, so that the means
// which its backward subtracts are exactly zero. c is the share of pairs that are not zero (all where c is
// 0).
RunFiller paired_rows_filler(const Problem& problem, const InputSpec& input) {
  const std::int64_t width = row_width(input);
  std::vector<double> gain;
  if (has_input(problem, "gain")) gain = draw_rounded(problem, input_named(problem, "gain"));
  TPC_EXPECT(gain.empty() || gain.size() == static_cast<std::size_t>(width), "{} gains for rows of {}",
             gain.size(), width);
  const Generator g = input.generator;
  const std::uint64_t stream = hash_name(input.name);
  return filler_by_rows(width, [=, seed = problem.seed](std::int64_t row, double* out) {
    std::fill_n(out, width, 0.0);
    for (const auto& [first, second] : equal_pairs(norm_row(seed, row, width), gain)) {
      const PhiloxWords words = words_at(seed, stream, row * width + static_cast<std::int64_t>(first));
      if (g.c != 0 && uniform(words) >= g.c) continue;
      out[first] = (words[1] & 1U) == 0 ? g.a : -g.a;
      out[second] = -out[first];
    }
  });
}

// 1024 times the integers {a, ..., b}, and one entry per row that is larger: b + 1 or b + 2. The distance of
// 1024 makes all other exponentials zero, so the log-sum-exp is the largest entry itself.
RunFiller peaked_logits_filler(const Problem& problem, const InputSpec& input) {
  const std::int64_t width = row_width(input);
  const Generator g = input.generator;
  const std::uint64_t stream = hash_name(input.name);
  const std::uint64_t peaks = hash_name("peak", stream);
  return filler_by_rows(width, [=, seed = problem.seed](std::int64_t row, double* out) {
    for (std::int64_t column = 0; column < width; ++column)
      out[column] = 1024 * integer_at(g, seed, stream, row * width + column);
    const PhiloxWords words = words_at(seed, peaks, row);
    const auto peak = (static_cast<std::uint64_t>(words[0]) * static_cast<std::uint64_t>(width)) >> 32U;
    out[peak] = 1024 * std::ldexp(g.b + 1 + (words[1] & 1U), g.exponent);
  });
}

}  // namespace tpc
