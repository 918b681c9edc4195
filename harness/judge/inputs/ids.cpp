// SPDX-License-Identifier: Apache-2.0
// Generators of token ids and targets, [S, B].
#include "harness/judge/inputs/kinds.hpp"
#include "harness/judge/inputs/text.hpp"
#include "reference/core/philox.hpp"
#include "reference/core/tensor.hpp"

namespace tpc {

namespace {

using Kind = Generator::Kind;

// Words in reading order. One more than there are tokens, since the target is the next word.
std::vector<std::int64_t> words_of_text(const Generator& generator, std::size_t count) {
  const std::vector<std::uint64_t> words = word_hashes(generator.text);
  const auto vocab = static_cast<std::uint64_t>(generator.a);
  std::vector<std::int64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) ids[i] = static_cast<std::int64_t>(words[i % words.size()] % vocab);
  return ids;
}

std::vector<std::int64_t> hashed_ids(const Problem& problem, const InputSpec& input, std::size_t count) {
  const auto vocab = static_cast<std::uint64_t>(input.generator.a);
  const std::uint64_t stream = hash_name(input.name);
  std::vector<std::int64_t> ids(count);
  for (std::size_t i = 0; i < count; ++i)
    ids[i] = static_cast<std::int64_t>((philox(problem.seed, i, stream)[0] * vocab) >> 32U);
  return ids;
}

// Element [s, b] is word b·S + s of the text: each column of the batch is a passage.
std::vector<std::int64_t> passages(const Shape& shape, const std::vector<std::int64_t>& words,
                                   std::size_t shift) {
  std::vector<std::int64_t> ids;
  for (std::int64_t s = 0; s < shape[0]; ++s)
    for (std::int64_t b = 0; b < shape[1]; ++b)
      ids.push_back(words[static_cast<std::size_t>(b * shape[0] + s) + shift]);
  return ids;
}

}  // namespace

RunFiller ids_filler(const Problem& problem, const InputSpec& input) {
  const Kind kind = input.generator.kind;
  const bool is_target = kind == Kind::targets || kind == Kind::text_targets;
  const auto count = static_cast<std::size_t>(element_count(input.shape));
  const IdDemand demand = id_demand(input.generator);
  std::vector<std::int64_t> ids;
  if (kind == Kind::tokens || kind == Kind::targets) {
    std::vector<std::int64_t> stream = hashed_ids(problem, input, count + 2);  // a margin on both sides
    place_required(demand, stream);
    ids.assign(stream.begin() + 1, stream.end() - 1);
  } else {
    TPC_EXPECT(input.shape.size() == 2, "input '{}' must be [S, B], not {}", input.name,
               to_string(input.shape));
    std::vector<std::int64_t> stream = words_of_text(input.generator, count + 1);
    place_required(demand, stream);
    ids = passages(input.shape, stream, is_target ? 1 : 0);
  }
  if (is_target) ignore_some(demand, problem, input, ids);
  return filler_of({ids.begin(), ids.end()});
}

}  // namespace tpc
