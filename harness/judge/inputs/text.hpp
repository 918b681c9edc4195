// SPDX-License-Identifier: Apache-2.0
// Token ids: from the words of a text or from a hash, and what both must cover.
//
// A sharded vocabulary goes wrong at the rows that a shard begins and ends with. So that a few hundred tokens
// reach all of them, ids that do not occur by themselves are put in the place of some tokens; with a text the
// rest keep the frequencies of the language.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/values/request.hpp"

namespace tpc {

// FNV-1a of each word of a UTF-8 file, in order; words are what white space separates. Throws UsageError.
std::vector<std::uint64_t> word_hashes(const std::string& path);

// What generators of ids are asked for. The vocabulary is seen cut into d equal shards, for each divisor d of
// the generator's b; padded to `exponent` rows where that is given, else to the next multiple of d.
struct IdDemand {
  std::int64_t vocab = 0;
  std::vector<std::int64_t> required;  // first and last rows of shards and the last id; no repetitions
};
IdDemand id_demand(const Generator& generator);

// Puts the required ids that are missing in the place of some elements of `stream`, evenly spread, until each
// occurs in [1, size - 1), as far as there is room; before that it makes one id repeat. Elements whose
// change would uncover a required id stay.
void place_required(const IdDemand& demand, std::vector<std::int64_t>& stream);

// Replaces share c of the targets (rounded, but at least one where c > 0) by the ignored index: later ones
// more often, so that equal parts of the sequence have unequal counts; the only occurrence of a required id
// never.
void ignore_some(const IdDemand& demand, const Problem& problem, const InputSpec& input,
                 std::vector<std::int64_t>& targets);

// What is not covered by the ids and the targets of a problem, in words; empty where all is. Of required ids,
// a repetition among the ids, and an ignored target.
std::string missing_coverage(const Problem& problem, const std::string& ids, const std::string& targets);

}  // namespace tpc
