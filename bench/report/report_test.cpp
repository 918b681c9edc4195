// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bench/report/charts.hpp"
#include "bench/report/outputs.hpp"
#include "bench/report/tables.hpp"
#include "bench/report/units.hpp"
#include "reference/core/contract.hpp"

namespace tpc::bench {
namespace {

Row step_row(int tp, double seconds) {
  Row row;
  row.kind = "step";
  row.op = "transformer_layers";
  row.pass = "step";
  row.dtype = "f32";
  row.sequence_parallel = "off";
  row.implementation = "reference";
  row.transport = tp == 1 ? "none" : "shm";
  row.tp = tp;
  row.oversubscribed = tp > 2;
  row.layers = 1;
  row.batch = 1;
  row.sequence = 8;
  row.hidden = 16;
  row.series.rounds = {2, 2};
  row.series.slowest = {seconds, seconds, seconds, seconds};
  summarise(row);
  row.figures = {{"model_document_s", seconds},
                 {"model_document_communication_s", seconds / 9},
                 {"model_wire_bound_s", seconds},
                 {"model_wire_bound_communication_s", seconds / 8},
                 {"model_calibrated_s", seconds * 0.9},
                 {"products_s", seconds / 2},
                 {"other_compute_s", seconds / 4},
                 {"exposed_communication_s", seconds / 5},
                 {"launch_s", seconds / 20}};
  return row;
}

Results some_results() {
  Results results;
  results.run.cpu = "A <CPU> & more";
  results.run.provenance.started = "2024-01-01T00:00:00Z";
  results.rows = {step_row(1, 1), step_row(2, 0.6), step_row(4, 0.7)};
  for (const CollectiveKind kind : timed_collectives)
    for (const std::int64_t bytes : {8, 1024, 65536}) {
      Row row = step_row(2, 1e-6 + 1e-9 * static_cast<double>(bytes));
      row.kind = "collective";
      row.op = tpc::name(kind);
      row.pass = "";
      row.payload_bytes = bytes;
      row.figures = {{"bus_bandwidth_gb_per_s", 1}};
      results.rows.push_back(row);
    }
  return results;
}

std::string folder_for(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has_gnuplot() { return std::system("gnuplot --version > /dev/null 2>&1") == 0; }

TEST(Outputs, EverythingIsThereAndLegible) {
  const std::string folder = folder_for("outputs");
  Outputs(folder).write_all(some_results());
  for (const char* file : {"bench.json", "bench.csv", "google_benchmark.json", "report.html"})
    EXPECT_GT(std::filesystem::file_size(std::filesystem::path(folder) / file), 100U) << file;
  EXPECT_EQ(read_results(folder + "/bench.json").rows.size(), some_results().rows.size());
  if (!has_gnuplot()) GTEST_SKIP() << "there is no gnuplot";
  for (const char* chart : {"step_sp_off", "split", "collectives"})
    for (const char* ending : {".svg", ".png"})
      EXPECT_GT(std::filesystem::file_size(folder + "/" + chart + ending), 1000U) << chart << ending;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
}

TEST(Outputs, TheReportStandsAlone) {
  const std::string folder = folder_for("alone");
  Outputs(folder).write_all(some_results());
  const std::string html = content_of(folder + "/report.html");
  EXPECT_EQ(html.find("src="), std::string::npos);
  EXPECT_EQ(html.find("<link"), std::string::npos);
  EXPECT_NE(html.find("A &lt;CPU&gt; &amp; more"), std::string::npos);
  EXPECT_NE(html.find("more ranks than cores"), std::string::npos);
  EXPECT_EQ(html.find("<svg") != std::string::npos, has_gnuplot());
}

TEST(Outputs, WithoutGnuplotThereAreNoChartsAndNothingElseIsMissing) {
  const std::string folder = folder_for("no_gnuplot");
  const char* const given = std::getenv("PATH");
  const std::string path = given == nullptr ? "" : given;
  ::setenv("PATH", "/nonexistent", 1);
  Outputs(folder).write_all(some_results());
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder + "/report.html"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/bench.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/split.svg"));
}

TEST(Outputs, AChartThatFailsLeavesNoHalfPicture) {
  if (!has_gnuplot()) GTEST_SKIP() << "there is no gnuplot";
  const std::string folder = folder_for("failing");
  std::filesystem::create_directories(folder);
  Chart chart;
  chart.name = "broken";
  chart.script = "plot nonsense(\n";
  EXPECT_THROW(draw(chart, folder), EnvironmentError);
  EXPECT_FALSE(std::filesystem::exists(folder + "/broken.svg"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/broken.svg.part"));
}

TEST(Outputs, AFolderThatCannotBeWrittenIsRefused) {
  EXPECT_THROW(Outputs("/proc/no/such/folder"), UsageError);
  const std::string file = testing::TempDir() + "/a_file";
  std::ofstream(file) << "x";
  EXPECT_THROW(Outputs(file + "/below"), UsageError);
}

TEST(Outputs, TheJournalIsAlwaysWholeAndSaysThatTheRunIsNot) {
  const std::string folder = folder_for("journal");
  Results results = some_results();
  const Outputs outputs(folder);
  outputs.write_journal(results);
  EXPECT_TRUE(read_results(folder + "/bench.json").run.ended.empty());
  EXPECT_NE(content_of(folder + "/bench.json").find("\"complete\": false"), std::string::npos);
  results.run.ended = "2024-01-01T00:01:00Z";
  outputs.write_journal(results);
  EXPECT_NE(content_of(folder + "/bench.json").find("\"complete\": true"), std::string::npos);
}

TEST(Formats, GoogleBenchmarksRepetitionsAreRounds) {
  const std::string json = to_google_json(some_results());
  EXPECT_NE(json.find("\"json_schema_version\": 1"), std::string::npos);
  EXPECT_NE(json.find("\"repetition_index\": 1"), std::string::npos);
  EXPECT_NE(json.find("\"aggregate_name\": \"median\""), std::string::npos);
  EXPECT_EQ(json.find("stddev"), std::string::npos);
}

TEST(Formats, CsvHasAsManyCellsInEveryLine) {
  Results results = some_results();
  results.rows[0].reason = "a, \"quoted\" reason";
  std::istringstream lines(to_csv(results));
  std::string line;
  std::getline(lines, line);
  const auto columns = std::count(line.begin(), line.end(), ',');
  std::getline(lines, line);
  EXPECT_NE(line.find("\"a, \"\"quoted\"\" reason\""), std::string::npos);
  while (std::getline(lines, line)) EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns) << line;
}

TEST(Formats, HtmlHasTheTableUnderItsChart) {
  const std::string html = to_html(some_results(), {{"step_sp_off", "A chart", "<svg>here</svg>"}});
  const std::size_t chart = html.find("<svg>here</svg>");
  ASSERT_NE(chart, std::string::npos);
  EXPECT_EQ(html.find("<table><caption>Measured beside the models"), chart + 16);
  EXPECT_EQ(html.find("Measured beside the models", chart + 60), std::string::npos);  // once
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST(Units, AreTheSameForGainsAndLosses) {
  EXPECT_EQ(seconds_text(-1.665e-3), "-1.67 ms");
  EXPECT_EQ(seconds_text(1.665e-3), "1.67 ms");
}

TEST(Tables, MarkWhatIsCrowdedAndClaimNoEfficiency) {
  const std::string table = drawn(step_table(some_results()));
  EXPECT_NE(table.find("4*"), std::string::npos);
  EXPECT_NE(table.find("no efficiency is claimed"), std::string::npos);
}

TEST(Tables, MetricsNameEveryRowThatHolds) {
  Results results = some_results();
  results.rows[1].status = "fail";
  const std::string lines = metric_lines(results);
  EXPECT_NE(lines.find("METRIC step/transformer_layers/step/f32/tp1/"), std::string::npos);
  EXPECT_EQ(lines.find("METRIC step/transformer_layers/step/f32/tp2/"), std::string::npos);
}

TEST(RunInfo, TheHardwareKeyIsAPlainName) {
  RunInfo run;
  run.cpu = "AMD EPYC(tm) 9555";
  run.provenance.cores = 2;
  EXPECT_EQ(hardware_key(run), "amd-epyc-tm-9555-2-cores");
}

TEST(RunInfo, OnlyAllowedVariablesAreWrittenDown) {
  ::setenv("NCCL_ALGO", "Ring", 1);
  ::setenv("SOME_SECRET", "x", 1);
  ::setenv("OMPI_MCA_orte_tmpdir_base", "/x", 1);
  const auto allowed = allowed_environment();
  EXPECT_EQ(allowed.at("NCCL_ALGO"), "Ring");
  EXPECT_FALSE(allowed.contains("SOME_SECRET"));
  EXPECT_FALSE(allowed.contains("OMPI_MCA_orte_tmpdir_base"));
  ::unsetenv("NCCL_ALGO");
}

}  // namespace
}  // namespace tpc::bench
