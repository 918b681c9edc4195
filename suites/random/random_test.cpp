// SPDX-License-Identifier: Apache-2.0
#include "suites/random/random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/explain/configuration/fields.hpp"

namespace tpc {
namespace {

const std::vector<Tier> all_tiers = {Tier::exact, Tier::f64, Tier::f32, Tier::bf16};

TEST(RandomConfiguration, IsValidAndSpeltByItsLine) {
  for (std::uint64_t i = 0; i < 500; ++i) {
    Configuration drawn = random_configuration(7, i, 8, all_tiers);
    EXPECT_EQ(configuration_defect(drawn), "") << to_text(drawn);
    drawn.problem.seed = 0;
    EXPECT_EQ(configuration_of(to_text(drawn)), drawn);
  }
}

TEST(RandomConfiguration, IsAFunctionOfSeedAndIndex) {
  EXPECT_EQ(random_configuration(7, 3, 8, all_tiers), random_configuration(7, 3, 8, all_tiers));
  EXPECT_NE(random_configuration(7, 3, 8, all_tiers), random_configuration(7, 4, 8, all_tiers));
  EXPECT_NE(random_configuration(7, 3, 8, all_tiers), random_configuration(8, 3, 8, all_tiers));
}

// Every value of every choice, and at least three of every number.
TEST(RandomConfiguration, CoversAllOptions) {
  std::map<std::string, std::set<std::string>> seen;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Configuration drawn = random_configuration(1, i, 8, all_tiers);
    for (const Field& field : configuration_fields())
      if (field.matters(drawn)) seen[field.key].insert(field.get(drawn));
  }
  for (const Field& field : configuration_fields()) {
    for (const char* value : {"0", "1"})
      if (field.values == "0 or 1") {
        EXPECT_TRUE(seen[field.key].contains(value)) << field.key << '=' << value;
      }
    EXPECT_GE(seen[field.key].size(), 2U) << field.key;
  }
  for (const char* tensor_parallel : {"1", "2", "3", "4", "6", "8"})
    EXPECT_TRUE(seen["tp"].contains(tensor_parallel));
  EXPECT_EQ(seen["op"].size(), 11U);
  EXPECT_EQ(seen["tier"].size(), 4U);
  EXPECT_EQ(seen["sp"].size(), 3U);
  EXPECT_EQ(seen["profile"].size(), 3U);
  EXPECT_EQ(seen["recompute"].size(), 3U);
}

TEST(RandomConfiguration, StaysWithinTheRanksAndTiers) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Configuration drawn = random_configuration(1, i, 3, {Tier::bf16});
    EXPECT_LE(drawn.tp, 3);
    EXPECT_EQ(drawn.tier, Tier::bf16);
    EXPECT_EQ(drawn.problem.dtype, DType::bf16);
  }
  EXPECT_THROW(random_configuration(1, 0, 3, {Tier::statistics}), std::exception);
}

}  // namespace
}  // namespace tpc
