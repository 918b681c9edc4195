// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "bench/report/formats.hpp"
#include "bench/report/tables.hpp"

namespace tpc::bench {

namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

std::string html_of(const TextTable& table) {
  std::string html = "<table><caption>" + escaped(table.title) + "</caption>\n<tr>";
  for (const std::string& column : table.columns) html += "<th>" + escaped(column) + "</th>";
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td>" + escaped(cell) + "</td>";
    html += "</tr>\n";
  }
  html += "</table>\n";
  return table.note.empty() ? html : html + "<p class=\"note\">" + escaped(table.note) + "</p>\n";
}

// From <svg on: what stands before it belongs to a file of its own.
std::string inline_svg(const std::string& svg) {
  const std::size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : svg.substr(begin);
}

constexpr const char* style =
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#111}"
    "svg{max-width:100%;height:auto}"
    "table{border-collapse:collapse;margin:1em 0 2em;font-size:13px}caption{text-align:left;font-weight:bold;"
    "padding:.3em 0}"
    "th,td{text-align:left;padding:.15em .8em .15em 0;border-bottom:1px solid #ddd}th{border-bottom:2px "
    "solid #777}"
    ".note{color:#555;margin-top:-1.5em}.facts td{border:0}";

std::string facts(const RunInfo& run) {
  TextTable table{"The run", {"", ""}, {}, ""};
  const Provenance& p = run.provenance;
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"started", p.started},
      {"ended", run.ended},
      {"commit", short_commit(p)},
      {"processor", run.cpu},
      {"cores", std::to_string(p.cores)},
      {"kernel", run.kernel},
      {"MPI", p.mpi},
      {"BLAS", p.blas + ", " + p.onednn},
      {"NCCL, driver", run.nccl + ", " + run.driver},
      {"compiler", p.compiler},
      {"command", p.command}};
  for (const auto& [name, value] : lines) table.rows.push_back({name, value});
  for (const auto& [name, value] : run.environment) table.rows.push_back({name, value});
  return html_of(table);
}

// What a chart shows, in numbers.
std::vector<TextTable> tables_under(const std::string& chart, const Results& results) {
  const std::string steps = "step_sp_";
  if (chart.starts_with(steps)) return {model_table(results, chart.substr(steps.size()))};
  if (chart == "split") return {split_table(results), overlap_table(results)};
  if (chart == "collectives") return {collective_table(results), fit_table(results)};
  return {};
}

}  // namespace

std::string to_html(const Results& results, const std::vector<EmbeddedChart>& charts) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tp_bench</title><style>" +
      std::string(style) + "</style></head><body>\n<h1>How tensor parallelism scales here</h1>\n<p>" +
      escaped(headline(results)) + "</p>\n";
  std::set<std::string> shown;
  const auto show = [&](const TextTable& table) {
    if (table.rows.empty()) return;
    html += html_of(table);
    shown.insert(table.title);
  };
  show(step_table(results));
  for (const EmbeddedChart& chart : charts) {
    html += "<h2>" + escaped(chart.title) + "</h2>\n" + inline_svg(chart.svg) + "\n";
    for (const TextTable& table : tables_under(chart.name, results)) show(table);
  }
  for (const TextTable& table : all_tables(results))
    if (!shown.contains(table.title)) show(table);
  return html + facts(results.run) + "</body></html>\n";
}

}  // namespace tpc::bench
