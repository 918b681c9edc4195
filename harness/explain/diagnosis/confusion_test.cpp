// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/confusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/explain/diagnosis/suspects.hpp"

namespace tpc {
namespace {

using Ids = std::vector<std::string>;

ConfusionRow row(const Ids& planted, const Ids& named, const std::string& case_name = "suite.case") {
  return {planted, case_name, named, ""};
}

TEST(Confusion, IsRightWhereThePlantedFaultIsNamed) {
  EXPECT_TRUE(row({"A"}, {"A"}).right());
  EXPECT_TRUE(row({"A"}, {"B", "A"}).right());
  EXPECT_FALSE(row({"A"}, {"B"}).right());
  EXPECT_FALSE(row({"A"}, {}).right());
  EXPECT_FALSE(row({"A"}, {"A"}, "").right());
}

TEST(Confusion, LetsAPairBeBlamedOnNothingElse) {
  EXPECT_TRUE(row({"A", "B"}, {}).right());
  EXPECT_TRUE(row({"A", "B"}, {"B"}).right());
  EXPECT_TRUE(row({"A", "B"}, {"A+B"}).right());
  EXPECT_TRUE(row({"A", "B"}, {"B+A"}).right());
  EXPECT_FALSE(row({"A", "B"}, {"C"}).right());
  EXPECT_FALSE(row({"A", "B"}, {"A+C"}).right());
  EXPECT_FALSE(row({"A", "B"}, {}, "").right());
}

TEST(Confusion, PassesWithNineInTenAndNoWrongBlame) {
  std::vector<ConfusionRow> rows;
  for (int i = 0; i < 9; ++i) rows.push_back(row({"A"}, {"A"}));
  rows.push_back(row({"A"}, {}));
  EXPECT_EQ(exit_code_of(rows), 0);
  rows.push_back(row({"A", "B"}, {}));
  EXPECT_EQ(exit_code_of(rows), 0);
  rows.push_back(row({"A"}, {}));
  EXPECT_EQ(exit_code_of(rows), 1);
  rows.back() = row({"A", "B"}, {"C"});
  EXPECT_EQ(exit_code_of(rows), 1);
  EXPECT_EQ(exit_code_of(std::vector<ConfusionRow>{}), 1);
  EXPECT_EQ(
      confusion_summary(rows),
      "9 of 10 faults are named first, 9 of them alone; of 2 pairs 2 fail, and 1 are not blamed on a third "
      "fault.");
}

TEST(Suspects, AreTheFaultsThatCanOccur) {
  Request request;
  request.problem.asked = Operation::row_linear;
  request.problem.model.hidden = 4;
  request.problem.model.ffn = 4;
  request.mesh = {{2}, {"tp"}};
  Ids ids;
  for (const Suspect& suspect : known_suspects(request)) ids.push_back(suspect.id);
  EXPECT_NE(std::find(ids.begin(), ids.end(), "TP-01"), ids.end());
  request.mesh = {{1}, {"tp"}};
  for (const Suspect& suspect : known_suspects(request)) EXPECT_NE(suspect.id, "TP-01");
}

Candidate candidate(const std::string& id, const Explanation& explanation = {}) {
  return {suspect_with(faults_named(id)), explanation};
}
Explanation partial() {
  Explanation explanation;
  explanation.explained = {"y"};
  explanation.unexplained = {"dx"};
  return explanation;
}

TEST(Suspects, ComeInPairsWhereOneReportHasTwoFaults) {
  const Suspect both = suspect_with(faults_named("TP-42+TP-42b"));
  EXPECT_EQ(both.id, "TP-42+TP-42b");
  EXPECT_EQ(both.source, row_of(Fault::mean_of_local_logits).source);
  EXPECT_NE(both.title.find(", and label smoothing takes the mean"), std::string::npos);
  const auto pairs = pairs_worth_trying({candidate("TP-42"), candidate("TP-01"), candidate("TP-42b")});
  EXPECT_EQ(pairs, std::vector<FaultSet>{both.faults});
}

TEST(Suspects, ComeInPairsWhereEachExplainsAPart) {
  Explanation contradicted = partial();
  contradicted.contradicted = {"grad.bias"};
  const auto pairs = pairs_worth_trying({candidate("TP-01", partial()), candidate("TP-03"),
                                         candidate("TP-09", contradicted), candidate("TP-41", partial())});
  EXPECT_EQ(pairs, std::vector<FaultSet>{faults_named("TP-01+TP-41")});
}

}  // namespace
}  // namespace tpc
