// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/dictionary.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/judge/compare/fixture.hpp"

namespace tpc {
namespace {

TensorDistances between(const std::string& name, double to_right, double to_suspect) {
  TensorDistances tensor;
  tensor.name = name;
  tensor.expected.shape = {100};
  tensor.expected.norm = tensor.expected.scale_norm = tensor.expected.scale_max = 1;
  tensor.to_right = {to_right * to_right, to_right, to_right == 0};
  tensor.to_suspect = {to_suspect * to_suspect, to_suspect, to_suspect == 0};
  return tensor;
}

Candidate candidate(const std::string& id, const std::vector<TensorDistances>& tensors) {
  return {{id, "title of " + id, "someone/something #1", false, {}}, explanation_of(case_on(2), tensors)};
}

TEST(Dictionary, ExplainsWhatTheSuspectAnswers) {
  const Explanation all = explanation_of(
      case_on(2), {between("dx", 1e-16, 1e-16), between("grad.bias", 0.5, 2e-15), between("y", 0.1, 0)});
  EXPECT_TRUE(all.full());
  EXPECT_EQ(all.explained, (std::vector<std::string>{"y", "grad.bias"}));
  EXPECT_NEAR(all.distance, 2e-15, 1e-20);
}

TEST(Dictionary, NeverBlamesASuspectForARightAnswer) {
  const Explanation right = explanation_of(case_on(2), {between("y", 1e-15, 0.1), between("dx", 0, 0)});
  EXPECT_FALSE(right.full());
  EXPECT_FALSE(right.partial());
  EXPECT_FALSE(explanation_of(case_on(2), {between("y", 0, 0)}).full());  // a suspect that is right too
}

// A wrong answer near the bound, and a suspect that is right: both are as near as rounding.
TEST(Dictionary, DemandsThatTheSuspectIsMuchNearerThanWhatIsRight) {
  EXPECT_FALSE(explanation_of(case_on(2), {between("y", 2e-12, 9e-13)}).full());
  EXPECT_TRUE(explanation_of(case_on(2), {between("y", 2e-12, 1e-15)}).full());
  EXPECT_FALSE(explanation_of(case_on(2), {between("y", 1, 1e-3)}).full());  // similar is not equal
}

// What is right is exact in any order of summation, and what is wrong need not be.
TEST(Dictionary, AllowsForRoundingInTheExactTier) {
  const Case exact = case_on(2, Tier::exact);
  const Explanation rounded = explanation_of(exact, {between("y", 0.1, 1e-15), between("dx", 0, 0)});
  EXPECT_TRUE(rounded.full());
  EXPECT_TRUE(rounded.by_rounding);
  EXPECT_FALSE(explanation_of(exact, {between("y", 0.1, 1e-13)}).full());
  EXPECT_FALSE(explanation_of(exact, {between("y", 0.1, 0), between("dx", 0, 1e-15)}).full());
  const Explanation to_the_bit = explanation_of(exact, {between("y", 0.1, 0)});
  EXPECT_EQ(certain_ids({{{"A", "a", "", false, {}}, rounded}, {{"B", "b", "", false, {}}, to_the_bit}}),
            (std::vector<std::string>{"B"}));
}

TEST(Dictionary, CallsAMisreadingByItsTitle) {
  const Candidate read{{"gelu", "gelu erf where tanh is asked", "", false, {}},
                       explanation_of(case_on(2), {between("y", 0.1, 0)})};
  EXPECT_EQ(verdict_on({read})[0],
            "your output equals the reference with gelu erf where tanh is asked, to the bit");
}

TEST(Dictionary, SaysWhatIsExplainedAndWhatIsNot) {
  const Candidate partly =
      candidate("TP-01", {between("y", 0.1, 1e-16), between("grad.bias", 0.2, 0.3), between("dx", 0, 0)});
  EXPECT_TRUE(partly.explanation.partial());
  ASSERT_EQ(verdict_on({partly}).size(), 1U);
  EXPECT_EQ(verdict_on({partly})[0],
            "fault TP-01, title of TP-01 (someone/something #1) explains y, within 1e-16, but not grad.bias");
  EXPECT_TRUE(certain_ids({partly}).empty());
}

TEST(Dictionary, DropsSuspectsThatWouldHaveBrokenMore) {
  const Candidate other = candidate("TP-02", {between("y", 0.1, 0), between("dx", 0, 0.5)});
  EXPECT_FALSE(other.explanation.full());
  EXPECT_FALSE(other.explanation.partial());
  EXPECT_TRUE(verdict_on({other}).empty());
}

TEST(Dictionary, NamesTogetherWhatItCannotTellApart) {
  const Candidate near = candidate("TP-05", {between("y", 0.1, 0)});
  const Candidate nearly = candidate("TP-04", {between("y", 0.1, 1e-15)});
  const Candidate partial = candidate("TP-03", {between("y", 0.1, 0), between("dx", 0.1, 0.2)});
  const std::vector<std::string> verdict = verdict_on({partial, nearly, near});
  ASSERT_EQ(verdict.size(), 1U);
  EXPECT_EQ(
      verdict[0],
      "your output equals the reference with fault TP-05, title of TP-05 (someone/something #1), to the "
      "bit; on this case the same as TP-04, title of TP-04 (someone/something #1)");
  EXPECT_EQ(certain_ids({partial, nearly, near}), (std::vector<std::string>{"TP-05", "TP-04"}));
}

TEST(Dictionary, GoesByTheWordsWhereNoTensorTells) {
  Candidate counted = candidate("TP-60", {});
  EXPECT_FALSE(counted.explanation.full());
  counted.explanation.by_words = true;
  EXPECT_EQ(
      verdict_on({counted})[0],
      "your failure reads as that of the reference with fault TP-60, title of TP-60 (someone/something #1)");
}

TEST(Dictionary, GoesByWhatIsNotRefused) {
  Candidate begun = candidate("TP-76", {});
  begun.explanation.by_not_refusing = true;
  EXPECT_EQ(verdict_on({begun})[0],
            "what cannot be done is not refused, as by the reference with fault TP-76, title of TP-76 "
            "(someone/something #1)");
}

TEST(Dictionary, NamesThreeAtMost) {
  std::vector<Candidate> many;
  for (const char* id : {"A", "B", "C", "D"})
    many.push_back(candidate(id, {between("y", 0.1, 0), between("dx", 0.1, 0.2)}));
  EXPECT_EQ(verdict_on(many).size(), 3U);
}

TEST(Dictionary, DemandsEqualityWhereTheTierDoes) {
  EXPECT_FALSE(explanation_of(case_on(2, Tier::exact), {between("mask.x", 1, 1e-16)}).full());
  EXPECT_TRUE(explanation_of(case_on(2, Tier::exact), {between("mask.x", 1, 0)}).full());
  EXPECT_TRUE(explanation_of(case_on(2, Tier::statistics), {between("forward.mask.x", 1, 0)}).full());
}

TEST(Dictionary, DemandsAnAnswerToEverything) {
  TensorDistances lacking = between("y", 0.1, 0);
  lacking.compared = false;
  EXPECT_FALSE(explanation_of(case_on(2), {lacking}).full());
}

}  // namespace
}  // namespace tpc
