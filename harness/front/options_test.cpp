// SPDX-License-Identifier: Apache-2.0
#include "harness/front/options.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

std::string refusal_of(const Arguments& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, DefaultsNeedNoArgument) {
  const Options options = parse_options({});

  EXPECT_EQ(options.implementation, "reference");
  EXPECT_EQ(options.suites.tp, (std::vector<int>{1, 2, 3, 4, 6, 8}));
  EXPECT_FALSE(options.suites.tp_given);
  EXPECT_EQ(options.suites.tiers.size(), 5U);
  EXPECT_EQ(options.suites.seed, 1U);
  EXPECT_EQ(options.front.filter, "*");
  EXPECT_EQ(options.front.repeat, 1);
  EXPECT_EQ(deadline_of(options), std::chrono::seconds(30));
}

TEST(Options, ReadsEveryOption) {
  const Options options = parse_options(
      {"--implementation", "x",   "--tier",    "f32,exact",  "--model",   "m.json",
       "--layers",         "2",   "--batch",   "3",          "--seq",     "5",
       "--text",           "t",   "--tp",      "4,2,4",      "--seed",    "18446744073709551615",
       "--records",        "r",   "--junit",   "j",          "--ranks",   "8",
       "--deadline",       "1.5", "--list",    "--coverage", "--explain", "a.b",
       "--dump",           "d",   "--version", "--help"});

  EXPECT_EQ(options.suites.tiers, (std::vector<Tier>{Tier::f32, Tier::exact}));
  EXPECT_EQ(options.suites.tp, (std::vector<int>{4, 2}));
  EXPECT_TRUE(options.suites.tp_given);
  EXPECT_EQ(options.suites.layers, 2);
  EXPECT_EQ(options.suites.batch, 3);
  EXPECT_EQ(options.suites.sequence, 5);
  EXPECT_EQ(options.suites.seed, 18446744073709551615ULL);
  EXPECT_EQ(options.ranks, 8);
  EXPECT_EQ(deadline_of(options), std::chrono::milliseconds(1500));
  EXPECT_TRUE(options.list && options.coverage && options.version && options.help);
  EXPECT_EQ(options.explain, "a.b");
}

TEST(Options, PassesGoogleTestsFlagsOnInBothSpellings) {
  const FrontOptions front =
      parse_options({"--gtest_filter=a.*-*b", "--gtest_repeat", "3", "--gtest_shuffle", "--gtest_brief=1",
                     "--gtest_random_seed=7", "--gtest_fail_fast=true", "--gtest_list_tests"})
          .front;

  EXPECT_EQ(front.filter, "a.*-*b");
  EXPECT_EQ(front.repeat, 3);
  EXPECT_EQ(front.random_seed, 7);
  EXPECT_TRUE(front.shuffle && front.brief && front.fail_fast && front.list_tests);
  EXPECT_FALSE(parse_options({"--gtest_shuffle=0"}).front.shuffle);
}

TEST(Options, TheLastOfSeveralCounts) {
  EXPECT_EQ(parse_options({"--seed", "1", "--seed", "2"}).suites.seed, 2U);
}

TEST(Options, RefusesInOneLineWithWhatToDo) {
  const std::vector<std::pair<Arguments, std::string>> wrong = {
      {{"--teir", "f64"}, "unknown: --teir f64; see --help"},
      {{"stray"}, "unknown: stray; see --help"},
      {{"--gtest_output=xml:x"}, "--junit FILE"},
      {{"--gtest_also_run_disabled_tests"}, "is not passed on"},
      {{"--gtest_filtr=a"}, "is not passed on"},
      {{"--tp", "2,x"}, "'x' is no number of ranks"},
      {{"--tp", "0"}, "'0' is no number of ranks"},
      {{"--tp", "2,,4"}, "'' is no number of ranks"},
      {{"--tier", "f16"}, "unknown tier 'f16'; there are exact, f64, f32, bf16"},
      {{"--layers", "0"}, "--layers"},
      {{"--batch", "-1"}, "--batch"},
      {{"--deadline", "0"}, "--deadline"},
      {{"--seed", "-5"}, "--seed"},
      {{"--seed", "abc"}, "--seed"},
      {{"--seed"}, "--seed"},
      {{"--gtest_repeat=-1"}, "--gtest_repeat"},
      {{"--gtest_random_seed=100000"}, "--gtest_random_seed"},
      {{"--ranks", "0"}, "--ranks"}};
  for (const auto& [arguments, expected] : wrong) {
    const std::string refusal = refusal_of(arguments);
    EXPECT_NE(refusal.find(expected), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
}

TEST(Options, HelpNamesEveryOptionItsDefaultAndTheExitCodes) {
  const std::string help = help_text();

  for (const char* expected : {"--implementation",
                               "--tier",
                               "--model",
                               "--layers",
                               "--batch",
                               "--seq",
                               "--text",
                               "--tp",
                               "--seed",
                               "--records",
                               "--junit",
                               "--ranks",
                               "--deadline",
                               "--list",
                               "--coverage",
                               "--explain",
                               "--dump",
                               "--version",
                               "--help",
                               "--gtest_filter",
                               "--gtest_list_tests",
                               "--gtest_repeat",
                               "--gtest_shuffle",
                               "--gtest_random_seed",
                               "--gtest_fail_fast",
                               "--gtest_brief",
                               "[1,2,3,4,6,8]",
                               "reference",
                               "130",
                               "nothing was compared"})
    EXPECT_NE(help.find(expected), std::string::npos) << expected << "\n" << help;
}

Case replay_case() {
  Case c;
  c.suite = "models";
  c.name = "gpt2/tp4_f32";
  c.tier = Tier::f32;
  c.request.mesh = {{2, 4}, {"dp_replicate", "tp"}};
  return c;
}

TEST(Replay, RunsTheCaseAloneOnAsManyRanksAsItNeeds) {
  EXPECT_EQ(replay_command(parse_options({}), replay_case()),
            "mpirun -np 8 tp_conformance --gtest_filter=models.gpt2/tp4_f32 --seed 1");
}

TEST(Replay, RepeatsWhateverDecidesWhatTheCaseIs) {
  const Options options = parse_options({"--implementation", "exec:my program", "--model", "it's.json",
                                         "--layers", "2", "--tp", "2,4", "--tier", "f32,f64", "--batch", "2",
                                         "--seq", "16", "--text", "t.txt", "--seed", "9"});

  EXPECT_EQ(
      replay_command(options, replay_case()),
      "mpirun -np 8 tp_conformance --gtest_filter=models.gpt2/tp4_f32 --seed 9 --implementation "
      "'exec:my program' --tier f32 --tp 4 --model 'it'\\''s.json' --layers 2 --batch 2 --seq 16 --text "
      "t.txt");
}

}  // namespace
}  // namespace tpc
