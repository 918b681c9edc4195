// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/inputs/text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "harness/judge/inputs/inputs.hpp"
#include "reference/core/philox.hpp"

namespace tpc {
namespace {

using Kind = Generator::Kind;

class TextFile {
 public:
  explicit TextFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() / fmt::format("tpc_text_{}.txt", getpid())) {
    std::ofstream(path_) << content;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Problem id_problem(const Generator& generator, std::int64_t sequence, std::int64_t batch) {
  Problem problem;
  problem.seed = 3;
  problem.sequence = sequence;
  problem.batch = batch;
  Generator targets = generator;
  targets.kind = generator.kind == Kind::tokens ? Kind::targets : Kind::text_targets;
  targets.c = 0.2;
  problem.inputs = {{"ids", {sequence, batch}, generator}, {"targets", {sequence, batch}, targets}};
  return problem;
}

TEST(Ids, CoverTheEdgesOfEveryShard) {
  const Generator tokens = {Kind::tokens, 70, 24, 0, 72};
  const Problem problem = id_problem(tokens, 64, 2);
  const std::vector<double> ids = draw_rounded(problem, problem.inputs[0]);
  const std::set<double> seen(ids.begin(), ids.end());

  for (int edge = 0; edge < 70; edge += 3) {
    EXPECT_TRUE(seen.contains(edge)) << edge;
    EXPECT_TRUE(seen.contains(std::min(edge + 2, 69))) << edge + 2;
  }
  EXPECT_EQ(missing_coverage(problem, "ids", "targets"), "");
  EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](double id) { return id >= 0 && id < 70; }));
}

TEST(Ids, TargetsAreIgnoredUnequally) {
  const Problem problem = id_problem({Kind::tokens, 1000, 4}, 64, 2);
  const std::vector<double> targets = draw_rounded(problem, problem.inputs[1]);
  std::vector<int> ignored(4, 0);
  for (std::size_t i = 0; i < targets.size(); ++i) ignored[i / 32] += targets[i] == -100 ? 1 : 0;

  EXPECT_EQ(ignored[0] + ignored[1] + ignored[2] + ignored[3], 26) << "a fifth of 128";
  EXPECT_GT(ignored[3], ignored[0] + 4) << "later ones more often";
}

TEST(Ids, AtLeastOneTargetIsIgnored) {
  Problem problem = id_problem({Kind::tokens, 1000, 4}, 32, 1);
  problem.inputs[1].generator.c = 1e-6;
  const std::vector<double> targets = draw_rounded(problem, problem.inputs[1]);
  EXPECT_EQ(std::count(targets.begin(), targets.end(), -100.0), 1);
}

TEST(Ids, AsMuchAsFitsWhereTheSequenceIsShort) {
  for (const std::int64_t sequence : {1, 2, 3, 5}) {
    const Problem problem = id_problem({Kind::tokens, 10000, 24}, sequence, 1);
    const std::vector<double> ids = draw_rounded(problem, problem.inputs[0]);
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(sequence));
    EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](double id) { return id >= 0 && id < 10000; }));
    EXPECT_NE(missing_coverage(problem, "ids", "targets"), "");
  }
  const Problem three = id_problem({Kind::tokens, 10000, 24}, 3, 1);
  const std::vector<double> ids = draw_rounded(three, three.inputs[0]);
  EXPECT_TRUE(std::count(ids.begin(), ids.end(), 9999.0) == 1) << "the last id goes first";
}

TEST(Text, WordsAreSplitAtWhiteSpace) {
  const TextFile file("the cat\n the  \t\xc3\xa9t\xc3\xa9\n");
  const std::vector<std::uint64_t> words = word_hashes(file.path());

  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[0], words[2]);
  EXPECT_EQ(words[0], hash_name("the"));
  EXPECT_EQ(words[3], hash_name("\xc3\xa9t\xc3\xa9"));
  EXPECT_THROW(word_hashes("/nowhere/at/all"), UsageError);
  EXPECT_THROW(word_hashes("/"), UsageError);
  EXPECT_THROW(word_hashes(TextFile(" \n").path()), UsageError);
}

TEST(Text, TheTargetIsTheNextWord) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += fmt::format("w{} ", i % 90);
  const TextFile file(text);
  Generator tokens = {Kind::text_tokens, 5000, 4, 0, 0, file.path()};
  Problem problem = id_problem(tokens, 50, 2);
  problem.inputs[1].generator.c = 0;
  const std::vector<double> ids = draw_rounded(problem, problem.inputs[0]);
  const std::vector<double> targets = draw_rounded(problem, problem.inputs[1]);

  for (std::size_t s = 0; s + 1 < 50; ++s)
    for (std::size_t b = 0; b < 2; ++b) EXPECT_EQ(targets[s * 2 + b], ids[(s + 1) * 2 + b]);
  EXPECT_EQ(targets[49 * 2], ids[1]) << "the second passage goes on where the first ends";
  EXPECT_EQ(missing_coverage(problem, "ids", "targets"), "");
}

TEST(Text, FewWordsAreReplaced) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += fmt::format("w{} ", i * i % 97);
  const TextFile file(text);
  const Problem problem = id_problem({Kind::text_tokens, 50257, 24, 0, 50304, file.path()}, 256, 2);
  const std::vector<double> ids = draw_rounded(problem, problem.inputs[0]);
  const std::vector<std::uint64_t> words = word_hashes(file.path());
  int replaced = 0;
  for (std::size_t s = 0; s < 256; ++s)
    for (std::size_t b = 0; b < 2; ++b)
      replaced += ids[s * 2 + b] != static_cast<double>(words[b * 256 + s] % 50257) ? 1 : 0;

  EXPECT_LE(replaced, 49);
  EXPECT_GT(replaced, 30);
  EXPECT_EQ(missing_coverage(problem, "ids", "targets"), "");
}

TEST(Text, WhatIsNotCoveredIsNamed) {
  const TextFile file("a b a b a b");
  Problem problem = id_problem({Kind::text_tokens, 50, 2, 0, 0, file.path()}, 4, 2);
  EXPECT_EQ(missing_coverage(problem, "ids", "targets"), "");
  problem.inputs[1].generator.c = 1;
  EXPECT_NE(missing_coverage(problem, "ids", "targets").find("'targets' do not hold the ids"),
            std::string::npos);
}

}  // namespace
}  // namespace tpc
