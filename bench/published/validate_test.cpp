// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/published/check.hpp"
#include "reference/core/contract.hpp"

namespace tpc::bench {
namespace {

Tables shipped() { return read_tables(TPC_PUBLISHED_FOLDER); }

std::string broken_rows(const Checks& checks) {
  std::string rows;
  for (const Check& check : checks)
    if (!check.holds()) rows += check.table + ": " + check.what + "\n";
  return rows;
}

TEST(Published, EveryRowHolds) {
  const Checks checks = check_all(shipped());
  EXPECT_GT(checks.size(), 250U);
  EXPECT_EQ(broken_rows(checks), "");
}

// Figures that no check reads: what published models say of their own accuracy, figures that depend on no
// formula.
bool is_unchecked(const Table& table, std::size_t row, const std::string& column) {
  static const std::set<std::string> tables = {"model_accuracy", "weak_scaling"};
  static const std::set<std::string> labels = {
      "model",       "scheme", "gpu",   "what",    "link", "basis", "regime", "pp", "parameters_billion",
      "micro_batch", "tp",     "ranks", "alpha_us"};
  if (tables.contains(table.name()) || labels.contains(column) || !table.has(row, column)) return true;
  // Not all sizes below the fitted range have a derived column.
  if (column == "chunks" && table.text(row, "stages") == "1") return true;  // one stage is never interleaved
  const bool small = table.name() == "allreduce_published" && table.number(row, "bytes") < 16 * 1048576.0;
  return small || (table.name() == "allreduce_published" && column == "bytes");
}

// A published figure that is read but does not count would go wrong unseen.
TEST(Published, EveryFigureCounts) {
  const Tables tables = shipped();
  std::string unseen;
  for (const auto& [name, table] : tables)
    for (const std::string& column : table.columns())
      for (std::size_t row = 0; row < table.rows(); ++row) {
        if (is_unchecked(table, row, column)) continue;
        Tables changed = tables;
        changed.at(name).set(row, column, fmt::format("{:.6f}", table.number(row, column) * 1.25 + 1));
        try {
          if (broken_rows(check_all(changed)).empty())
            unseen += fmt::format("{} {} row {}\n", name, column, row);
        } catch (const std::exception&) {
          continue;  // refused is noticed as well
        }
      }
  EXPECT_EQ(unseen, "");
}

TEST(Published, TheReportNamesWhatDoesNotHold) {
  Tables tables = shipped();
  tables.at("activation_layer").set(0, "selective", "625");
  const std::string report = validation_report(check_all(tables), model_errors(tables), false);
  EXPECT_NE(report.find("22B selective"), std::string::npos);
  EXPECT_NE(report.find("✗ activation_layer"), std::string::npos);
  EXPECT_NE(report.find("27 of 28 rows hold"), std::string::npos);
  EXPECT_NE(report.find("calculon"), std::string::npos);
}

TEST(Published, OurModelsAreWithinTheirTargets) {
  for (const ModelError& error : model_errors(shipped())) {
    if (error.model != "ours") continue;
    EXPECT_LE(error.mean_percent, 5) << error.what;
  }
}

TEST(Table, ReadsWhatIsPrinted) {
  const Table table = Table::parse("t", "# comment\na,b\nx,1.50\ny,\n");
  EXPECT_DOUBLE_EQ(table.figure(0, "b").value, 1.5);
  EXPECT_DOUBLE_EQ(table.figure(0, "b").half_unit, 0.005);
  EXPECT_FALSE(table.has(1, "b"));
  EXPECT_EQ(table.row_where("a", "y"), 1U);
}

TEST(Table, SaysWhatIsWrong) {
  EXPECT_THROW(Table::parse("t", "a,b\n1\n"), UsageError);
  EXPECT_THROW(Table::parse("t", "a,b\n"), UsageError);
  EXPECT_THROW(Table::parse("t", "a\nx\n").number(0, "a"), UsageError);
  EXPECT_THROW(Table::parse("t", "a\nx\n").text(0, "b"), UsageError);
  EXPECT_THROW(Table::parse("t", "a\nx\n").row_where("a", "z"), UsageError);
  EXPECT_THROW(Table::read("/nowhere/t.csv"), UsageError);
  EXPECT_THROW(read_tables("/nowhere"), UsageError);
}

TEST(Check, Holds) {
  EXPECT_TRUE(exact("t", "w", "", 1.25, {1.2, 0.05}).holds());  // a tie
  EXPECT_FALSE(exact("t", "w", "", 1.26, {1.2, 0.05}).holds());
  EXPECT_TRUE(in_band("t", "w", "", 1.4, {1.2, 0.05}, 0.2).holds());
  EXPECT_FALSE(in_band("t", "w", "", 1.41, {1.2, 0.05}, 0.2).holds());
  EXPECT_TRUE(error_at_most("t", "w", 2.9, 3).holds());
  EXPECT_FALSE(error_at_most("t", "w", 3.1, 3).holds());
}

}  // namespace
}  // namespace tpc::bench
