// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/fault.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tpc {
namespace {

// As a reader counts: TP-9 before TP-10.
std::pair<std::string, int> place_of(std::string_view id) {
  const std::size_t dash = id.find('-');
  return {std::string(id.substr(0, dash)), std::stoi(std::string(id.substr(dash + 1)))};
}

TEST(FaultTable, IdsAreUniqueAndSorted) {
  std::set<std::string_view> ids;
  std::string_view before;
  for (const FaultRow& row : fault_table()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " stands twice";
    EXPECT_TRUE(row.also.empty() || ids.insert(row.also).second) << row.also << " stands twice";
    EXPECT_TRUE(before.empty() || place_of(before) <= place_of(row.id)) << before << " before " << row.id;
    before = row.id;
  }
  for (const NotPlanted& row : faults_not_planted())
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is planted and not planted";
}

TEST(FaultTable, HoldsEveryFaultOnce) {
  const auto faults = static_cast<std::size_t>(Fault::count);
  std::set<Fault> rows;
  for (const FaultRow& row : fault_table()) rows.insert(row.fault);
  EXPECT_EQ(rows.size(), faults);
  EXPECT_EQ(fault_table().size(), faults);
}

TEST(FaultTable, EachRowSaysWhatWhereAndWhoSaidSo) {
  for (const FaultRow& row : fault_table()) {
    EXPECT_FALSE(row.operations.empty() && row.collectives.empty()) << row.id;
    EXPECT_FALSE(row.title.empty()) << row.id;
    EXPECT_TRUE(row.source.find('#') != std::string_view::npos || row.source.starts_with("no public report"))
        << row.id << " cites no thread";
  }
  for (const NotPlanted& row : faults_not_planted()) EXPECT_FALSE(row.reason.empty()) << row.id;
}

TEST(FaultSet, HoldsWhatIsPlantedAndNothingElse) {
  FaultSet faults;
  EXPECT_TRUE(faults.empty());
  for (const FaultRow& row : fault_table()) EXPECT_FALSE(faults.contains(row.fault)) << row.id;
  faults.plant(Fault::norm_gradients_not_summed);
  faults.plant(Fault::row_bias_before_reduce);
  EXPECT_FALSE(faults.empty());
  EXPECT_EQ(faults.all(),
            (std::vector<Fault>{Fault::row_bias_before_reduce, Fault::norm_gradients_not_summed}));
  EXPECT_EQ(names_of(faults), "TP-01+TP-09");
}

TEST(FaultSet, IsReadFromIds) {
  EXPECT_EQ(faults_named("TP-09+TP-01"), faults_named("TP-01+TP-09"));
  EXPECT_EQ(faults_named("TP-66"), FaultSet(Fault::gate_up_cut_as_one));  // also known as
  for (const FaultRow& row : fault_table()) EXPECT_EQ(faults_named(row.id), FaultSet(row.fault)) << row.id;
}

std::string refusal_of(std::string_view ids) {
  try {
    faults_named(ids);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(FaultSet, RefusesOtherIdsWithAHint) {
  EXPECT_EQ(refusal_of("TP-00"), "unknown fault 'TP-00'; ids are as in TP-01, and --list-faults prints them");
  EXPECT_EQ(refusal_of("TP-01+"), "unknown fault ''; ids are as in TP-01, and --list-faults prints them");
  EXPECT_EQ(refusal_of("TP-12"), "fault TP-12 is not planted: needs routers; see --list-faults");
}

}  // namespace
}  // namespace tpc
