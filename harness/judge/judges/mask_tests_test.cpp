// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judges/mask_tests.hpp"

#include <gtest/gtest.h>

#include "reference/core/philox.hpp"

namespace tpc {
namespace {

constexpr double rate = 0.1;
const MeshSpec four{{4}, {"tp"}};
const MeshSpec cube{{2, 2, 2}, {"pp", "dp", "tp"}};

// Numbers of `stream` from `first` on.
HeldMask drawn(std::int64_t offset, std::uint64_t stream, std::int64_t n = 4096, std::uint64_t first = 0,
               double p = rate) {
  HeldMask mask;
  mask.boxes = {{{offset}, {n}}};
  for (std::int64_t i = 0; i < n; ++i)
    mask.kept.push_back(uniform(philox(stream, first + static_cast<std::uint64_t>(i))) >= p ? 1 : 0);
  return mask;
}

std::vector<HeldMask> sharded(std::int64_t n = 4096) {
  std::vector<HeldMask> masks;
  for (int r = 0; r < 4; ++r) masks.push_back(drawn(r * n, 100 + static_cast<std::uint64_t>(r), n));
  return masks;
}

RelationFindings tested(const std::vector<HeldMask>& masks,
                        const Randomness& random = {"megatron", true, false}, const MeshSpec& mesh = four) {
  return MaskTests{random, mesh}.site("blocks.0.mlp.mask.mlp_output", rate, masks);
}

void expect_alarm(const RelationFindings& findings, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(findings.alarm.find(word), std::string::npos) << word << " in: " << findings.alarm;
}

TEST(Relation, OfEveryAxisByProfile) {
  const auto of = [](const char* profile, int a, int b, bool same, bool flag = false) {
    return relation({profile, true, flag}, cube, a, b, same);
  };
  for (const char* profile : {"invariant", "megatron", "dtensor", "its own"}) {
    EXPECT_EQ(of(profile, 0, 1, true), Relation::equal) << profile;
    EXPECT_EQ(of(profile, 0, 1, false), Relation::independent) << profile;
  }
  for (const char* profile : {"invariant", "megatron", "dtensor"}) {
    EXPECT_EQ(of(profile, 0, 2, true), Relation::equal) << profile;
    EXPECT_EQ(of(profile, 0, 3, true), Relation::equal) << profile;
    EXPECT_EQ(of(profile, 0, 3, false), Relation::independent) << profile;
  }
  EXPECT_EQ(of("megatron", 0, 2, true, true), Relation::independent);
  EXPECT_EQ(of("dtensor", 0, 2, true, true), Relation::equal);
  EXPECT_EQ(of("megatron", 0, 4, true), Relation::independent);
  EXPECT_EQ(of("dtensor", 0, 4, true), Relation::independent);
  EXPECT_EQ(of("invariant", 0, 4, true), Relation::equal);
  EXPECT_EQ(of("its own", 0, 2, true), Relation::free);
  EXPECT_EQ(of("its own", 0, 6, true), Relation::free);
}

TEST(MaskTests, CleanShardsRaiseNoAlarm) {
  const RelationFindings findings = tested(sharded());
  EXPECT_EQ(findings.alarm, "");
  EXPECT_EQ(findings.independent_pairs, 6);
  EXPECT_EQ(findings.equal_pairs, 0);
  EXPECT_EQ(findings.tests, 6 * 2 + 4 + 1);  // agreement and lags of each pair, a rate each, one dispersion
  EXPECT_LT(findings.largest_z, 4.5);
  EXPECT_LT(findings.visible_share, 0.5);
  EXPECT_NE(findings.rates.find("ranks 0 to 3: all drop"), std::string::npos) << findings.rates;
}

TEST(MaskTests, WorkersTogetherDoWhatOneDoes) {
  const Randomness random{"megatron", true, false};
  RelationFindings sum;
  for (int worker = 0; worker < 3; ++worker)
    add(sum, MaskTests{random, four, worker, 3}.site("site", rate, sharded()));
  const RelationFindings alone = MaskTests{random, four}.site("site", rate, sharded());
  EXPECT_EQ(sum.tests, alone.tests);
  EXPECT_EQ(sum.independent_pairs, alone.independent_pairs);
  EXPECT_EQ(sum.largest_z, alone.largest_z);
}

TEST(MaskTests, TheSameMaskOnTwoShardsIsNamed) {
  std::vector<HeldMask> masks = sharded();
  masks[3].kept = masks[1].kept;
  expect_alarm(tested(masks), {"blocks.0.mlp.mask.mlp_output", "rank 1 (tp 1 of 4)", "rank 3 (tp 3 of 4)",
                               "must draw independently", "agree at 4096 of 4096", "1.0000", "0.8200"});
}

TEST(MaskTests, AQuarterInCommonIsSeenInLargerMasks) {
  std::vector<HeldMask> masks = sharded(1 << 15);
  for (std::size_t i = 0; i < masks[0].kept.size(); i += 4) masks[2].kept[i] = masks[0].kept[i];
  expect_alarm(tested(masks), {"rank 0", "rank 2"});
}

TEST(MaskTests, DifferentCopiesAreNamed) {
  std::vector<HeldMask> masks(4, drawn(0, 5));
  EXPECT_EQ(tested(masks).alarm, "");
  EXPECT_EQ(tested(masks).equal_pairs, 6);
  EXPECT_EQ(tested(masks).tests, 1);  // one rate
  masks[2] = drawn(0, 6);
  expect_alarm(tested(masks), {"rank 0 (tp 0 of 4)", "rank 2 (tp 2 of 4)", "must draw alike", "agree at"});
}

TEST(MaskTests, AShiftedStreamIsSeen) {
  std::vector<HeldMask> masks = sharded();
  masks[1] = drawn(4096, 100, 4096, 64);  // the first one's numbers, 64 later
  expect_alarm(tested(masks), {"rank 0", "rank 1", "shifted by -64", "unshifted they agree"});
}

TEST(MaskTests, AnotherRateIsSeen) {
  std::vector<HeldMask> masks = sharded(1 << 16);
  masks[2] = drawn(2 << 16, 102, 1 << 16, 0, 0.12);
  expect_alarm(tested(masks), {"rank 2 (tp 2 of 4) keeps", "0.9000 is expected"});
}

// Too few for statistics, enough to be the same by chance never.
TEST(MaskTests, SmallMasksMayNotBeTheSame) {
  std::vector<HeldMask> masks = sharded(300);
  EXPECT_EQ(tested(masks).alarm, "");
  EXPECT_EQ(tested(masks).tests, 0);
  masks[1].kept = masks[0].kept;
  expect_alarm(tested(masks), {"must draw independently", "agree at 300 of 300"});
  std::vector<HeldMask> tiny = sharded(8);
  tiny[1].kept = tiny[0].kept;
  EXPECT_EQ(tested(tiny).alarm, "");
}

TEST(MaskTests, DataParallelRanksFollowTheFlag) {
  const MeshSpec two{{2, 1}, {"dp", "tp"}};
  const std::vector<HeldMask> same(2, drawn(0, 5));
  const std::vector<HeldMask> different = {drawn(0, 5), drawn(0, 6)};
  const Randomness shared{"megatron", true, false};
  const Randomness seeded{"megatron", true, true};
  EXPECT_EQ(tested(same, shared, two).alarm, "");
  EXPECT_EQ(tested(different, seeded, two).alarm, "");
  expect_alarm(tested(different, shared, two), {"rank 0 (dp 0 of 2", "rank 1 (dp 1 of 2", "must draw alike"});
  expect_alarm(tested(same, seeded, two), {"must draw independently", "1.0000"});
  EXPECT_EQ(tested(same, {"its own", true, false}, two).alarm, "");
  EXPECT_EQ(tested(same, {"its own", true, false}, two).free_pairs, 1);
}

TEST(MaskTests, PartlySharedBoxesAreLeftToTheCopies) {
  std::vector<HeldMask> masks = {drawn(0, 5), drawn(1024, 6)};
  EXPECT_EQ(tested(masks, {"dtensor", true, false}, {{2}, {"tp"}}).free_pairs, 1);
}

TEST(MaskTests, StepsAndLayersMustDiffer) {
  const Randomness random{"megatron", true, false};
  const MaskTests tests{random, four};
  std::vector<HeldMask> later;
  for (int r = 0; r < 4; ++r)
    later.push_back(drawn(r * 4096, 100 + static_cast<std::uint64_t>(r), 4096, 4096));
  EXPECT_EQ(tests.successive("site", "the next step", rate, sharded(), later).alarm, "");
  later[2] = sharded()[2];
  expect_alarm(tests.successive("site", "the next step", rate, sharded(), later),
               {"site on rank 2", "that of the next step", "agree at 4096 of 4096"});
}

TEST(MaskTests, SummariesTellWhatWasTested) {
  const std::string text = summary_of(tested(sharded()));
  for (const char* word :
       {"6 independent", "17 tests", "false alarms expected", "% of their positions", "dispersion"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

}  // namespace
}  // namespace tpc
