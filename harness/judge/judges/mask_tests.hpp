// SPDX-License-Identifier: Apache-2.0
// The tests that masks are related as they must be. Pure: the masks of all ranks are at hand.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/judges/mask_relations.hpp"

namespace tpc {

// What all tests together came to; adds up over sites and over those who share the work.
struct RelationFindings {
  std::int64_t equal_pairs = 0;
  std::int64_t independent_pairs = 0;
  std::int64_t free_pairs = 0;
  std::int64_t tests = 0;    // of statistics, each of which may raise a false alarm
  double largest_z = 0;      // of all that passed or failed
  double largest_peak = 0;   // of cross-correlations, in sigma
  double visible_share = 0;  // of positions that two masks may share before every test of them sees it
  std::string alarm;         // the first
  std::string rates;         // the effective rate on sharded elements, site by site
};
void add(RelationFindings& sum, const RelationFindings& part);

// One site of a case. Work is dealt out: worker `index` of `workers` does every workers-th test.
struct MaskTests {
  const Randomness& random;
  const MeshSpec& mesh;
  int index = 0;
  int workers = 1;
  bool at_every_lag = true;  // cross-correlations, which find shifted copies

  // `where` names the site in messages; masks by rank.
  RelationFindings site(const std::string& where, double rate, const std::vector<HeldMask>& masks) const;
  // Two masks of one rank that must be independent, as those of two steps or layers.
  RelationFindings successive(const std::string& where, const std::string& other, double rate,
                              const std::vector<HeldMask>& masks, const std::vector<HeldMask>& others) const;
};

// Masks below this are not tested for independence, only for not being the same; below the second not at all,
// since masks that small may be the same by chance.
inline constexpr std::int64_t elements_for_statistics = 4096;
inline constexpr std::int64_t elements_for_inequality = 256;

std::string summary_of(const RelationFindings& findings);

}  // namespace tpc
