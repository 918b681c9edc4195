// SPDX-License-Identifier: Apache-2.0
#include "bench/report/tables.hpp"

#include <algorithm>
#include <cmath>

#include "bench/report/units.hpp"

namespace tpc::bench {

namespace {

std::string figure_text(const Row& row, const std::string& name, std::string (*text)(double)) {
  const auto found = row.figures.find(name);
  return found == row.figures.end() ? "-" : text(found->second);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string plain(double value) { return fmt::format("{:.3g}", value); }

std::string degree(const Row& row) { return fmt::format("{}{}", row.tp, row.oversubscribed ? "*" : ""); }

std::string band(const Row& row) {
  if (row.series.slowest.empty()) return "-";
  return fmt::format("{} [{} - {}]", seconds_text(row.seconds.median), seconds_text(row.seconds.p5),
                     seconds_text(row.seconds.p95));
}

std::string status(const Row& row) { return row.status == "ok" ? "ok" : row.status + ": " + row.reason; }

std::vector<const Row*> rows_of(const Results& results, const std::string& kind) {
  std::vector<const Row*> rows;
  for (const Row& row : results.rows)
    if (row.kind == kind) rows.push_back(&row);
  return rows;
}

const char* crowded = "* more ranks than cores: shown, but no efficiency is claimed from it";

std::string note_for(const std::vector<const Row*>& rows) {
  const bool any = std::any_of(rows.begin(), rows.end(), [](const Row* row) { return row->oversubscribed; });
  return any ? crowded : "";
}

}  // namespace

TextTable step_table(const Results& results) {
  const auto rows = rows_of(results, "step");
  TextTable table{"Steps",
                  {"T", "seq. par.", "transport", "time [p5 - p95]", "speed-up", "efficiency", "payload",
                   "ring wire", "kept", "result"},
                  {},
                  note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back({degree(*row), row->sequence_parallel, row->transport, band(*row),
                          figure_text(*row, "speed_up", plain), figure_text(*row, "efficiency", percent),
                          figure_text(*row, "payload_counted_bytes", bytes_text),
                          figure_text(*row, "ring_wire_bytes", bytes_text),
                          figure_text(*row, "kept_for_backward_bytes", bytes_text), status(*row)});
  return table;
}

TextTable outside_table(const Results& results) {
  const auto rows = rows_of(results, "outside_step");
  TextTable table{"The same layer by an outside implementation, timed by itself",
                  {"by", "T", "seq. par.", "time [p5 - p95]", "speed-up", "efficiency", "payload",
                   "of the reference's", "result"},
                  {},
                  note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back({row->implementation, degree(*row), row->sequence_parallel, band(*row),
                          figure_text(*row, "speed_up", plain), figure_text(*row, "efficiency", percent),
                          figure_text(*row, "payload_counted_bytes", bytes_text),
                          figure_text(*row, "beside_reference", percent), status(*row)});
  return table;
}

TextTable split_table(const Results& results) {
  const auto rows = rows_of(results, "step");
  TextTable table{"Where the time goes (mean of the ranks)",
                  {"T", "seq. par.", "products", "other compute", "exposed comm.", "launch", "compute only",
                   "comm. only", "hidden", "loss of smaller products"},
                  {},
                  note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back(
        {degree(*row), row->sequence_parallel, figure_text(*row, "products_s", seconds_text),
         figure_text(*row, "other_compute_s", seconds_text),
         figure_text(*row, "exposed_communication_s", seconds_text),
         figure_text(*row, "launch_s", seconds_text), figure_text(*row, "compute_only_s", seconds_text),
         figure_text(*row, "communication_only_s", seconds_text), figure_text(*row, "hidden_share", percent),
         figure_text(*row, "loss_of_smaller_products_s", seconds_text)});
  return table;
}

TextTable overlap_table(const Results& results) {
  auto rows = rows_of(results, "step");
  std::erase_if(rows, [](const Row* row) { return !row->figures.contains("overlap_gain"); });
  TextTable table{"Products overlapped with collectives in chunks",
                  {"T", "seq. par.", "one after the other", "overlapped", "gain", "hidden (IMB)",
                   "efficiency (Flux)", "result"},
                  {},
                  note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back({degree(*row), row->sequence_parallel, figure_text(*row, "separate_s", seconds_text),
                          seconds_text(row->seconds.median), figure_text(*row, "overlap_gain", percent),
                          figure_text(*row, "hidden_share", percent),
                          figure_text(*row, "overlap_efficiency", percent), status(*row)});
  return table;
}

TextTable model_table(const Results& results, const std::string& form) {
  auto rows = rows_of(results, "step");
  std::erase_if(rows, [&](const Row* row) {
    const bool wanted = form.empty() || row->tp == 1 || row->sequence_parallel == form;
    return !wanted || row->figures.contains("overlap_gain");
  });
  TextTable table{
      "Measured beside the models",
      {"T", "seq. par.", "measured", "document's formula", "wire bound", "calibrated", "residual"},
      {},
      note_for(rows)};
  for (const Row* row : rows) {
    const auto calibrated = row->figures.find("model_calibrated_s");
    const bool known = calibrated != row->figures.end() && row->seconds.median > 0;
    table.rows.push_back(
        {degree(*row), row->sequence_parallel, seconds_text(row->seconds.median),
         figure_text(*row, "model_document_s", seconds_text),
         figure_text(*row, "model_wire_bound_s", seconds_text),
         figure_text(*row, "model_calibrated_s", seconds_text),
         known ? fmt::format("{:+.1f} %", 100 * (calibrated->second / row->seconds.median - 1)) : "-"});
  }
  return table;
}

namespace {

// How ours compare with the bare loops that were interleaved with them.
std::string beside_bare(const std::vector<const Row*>& rows) {
  constexpr double share = 0.05;
  constexpr double moment = 1e-6;
  std::vector<double> beyond;
  int alike = 0;
  for (const Row* row : rows) {
    const auto found = row->figures.find("beyond_bare_share");
    if (found == row->figures.end()) continue;
    beyond.push_back(std::abs(found->second));
    alike += beyond.back() <= share || std::abs(row->figures.at("beyond_bare_s")) <= moment ? 1 : 0;
  }
  if (beyond.empty()) return "";
  return fmt::format("{} of {} within 5 % or 1 µs of the bare loop; median difference {}. ", alike,
                     beyond.size(), percent(median(beyond)));
}

}  // namespace

TextTable collective_table(const Results& results) {
  const auto rows = rows_of(results, "collective");
  TextTable table{"Collectives",
                  {"collective", "T", "payload", "transport", "time [p5 - p95]", "bus GB/s", "bare MPI",
                   "beyond it", "result"},
                  {},
                  beside_bare(rows) + note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back({row->op, degree(*row), bytes_text(static_cast<double>(row->payload_bytes)),
                          row->transport, band(*row), figure_text(*row, "bus_bandwidth_gb_per_s", plain),
                          figure_text(*row, "bare_median_s", seconds_text),
                          figure_text(*row, "beyond_bare_share", percent), status(*row)});
  return table;
}

TextTable product_table(const Results& results) {
  const auto rows = rows_of(results, "gemm");
  TextTable table{"Products (batch x m x n x k, operands transposed or not)",
                  {"product", "T", "calls a step", "time [p5 - p95]", "GFLOP/s a rank"},
                  {},
                  note_for(rows)};
  for (const Row* row : rows)
    table.rows.push_back({row->op, degree(*row), figure_text(*row, "calls_per_step", plain), band(*row),
                          figure_text(*row, "gflop_per_s", plain)});
  return table;
}

TextTable fit_table(const Results& results) {
  TextTable table{"Fitted: alpha + payload/rate, by size",
                  {"collective", "T", "transport", "up to", "alpha", "payload GB/s", "mean error", "worst"},
                  {},
                  ""};
  for (const FittedCollective& fit : results.fits)
    for (const auto& piece : fit.line.pieces()) {
      const bool last = &piece == &fit.line.pieces().back();
      table.rows.push_back({std::string(tpc::name(fit.kind)), std::to_string(fit.ranks), fit.transport,
                            last ? "any" : bytes_text(piece.up_to_bytes), seconds_text(piece.line.alpha_s),
                            piece.line.s_per_byte > 0 ? plain(1e-9 / piece.line.s_per_byte) : "-",
                            percent(fit.mean_error), percent(fit.max_error)});
    }
  return table;
}

std::vector<TextTable> all_tables(const Results& results) {
  std::vector<TextTable> tables;
  for (TextTable table :
       {step_table(results), outside_table(results), split_table(results), overlap_table(results),
        model_table(results), collective_table(results), product_table(results), fit_table(results)})
    if (!table.rows.empty()) tables.push_back(std::move(table));
  return tables;
}

namespace {

// Columns on the screen: every character but the trailing bytes of UTF-8.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

}  // namespace

std::string drawn(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    widths.push_back(width_of(table.columns[c]));
    for (const auto& row : table.rows) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = " ";
    for (std::size_t c = 0; c < cells.size(); ++c) text += " " + padded(cells[c], widths[c]) + " ";
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = table.title + "\n" + line(table.columns);
  for (const auto& row : table.rows) text += line(row);
  return table.note.empty() ? text : text + "  " + table.note + "\n";
}

std::string headline(const Results& results) {
  const RunInfo& run = results.run;
  return fmt::format("tp_bench {} ({}) on {}, {} cores; {}; {}\n", run.provenance.version,
                     short_commit(run.provenance), run.cpu, run.provenance.cores, run.provenance.mpi,
                     run.provenance.onednn);
}

std::string metric_lines(const Results& results) {
  std::string lines;
  for (const Row& row : results.rows)
    if (row.status == "ok" && row.kind != "gemm")
      lines += fmt::format("METRIC {}={:.9g} s\n", key(row), row.seconds.median);
  return lines;
}

}  // namespace tpc::bench
