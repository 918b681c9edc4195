// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "bench/report/chart_style.hpp"
#include "bench/report/charts.hpp"

namespace tpc::bench {

namespace {

RowPointers steps_of(const Results& results, const std::string& sp) {
  RowPointers rows;
  for (const Row& row : results.rows) {
    const bool base = row.tp == 1;  // is the same with and without sequence parallelism
    if (row.kind == "step" && row.status == "ok" && (base || row.sequence_parallel == sp))
      rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->tp < b->tp; });
  return rows;
}

double figure_value(const Row& row, const std::string& name) {
  const auto found = row.figures.find(name);
  return found == row.figures.end() ? NAN : found->second;
}

constexpr std::array models = {"model_document", "model_wire_bound", "model_calibrated"};

// Of a formula, as if each rank had a core: there communication is all that is lost.
double formula_efficiency(const Row& row, const std::string& model, double single) {
  if (row.tp == 1) return 100;
  return 100 * single / (single + row.tp * figure_value(row, model + "_communication_s"));
}

// Columns: T, median, p5, p95 (ms); the three models (ms); efficiency measured and of the models; residuals
// (%).
std::string step_data(const RowPointers& rows) {
  const double single = rows.front()->seconds.median;
  std::string data = "$steps << EOD\n";
  for (const Row* row : rows) {
    const Summary& s = row->seconds;
    data += fmt::format("{} {:.6g} {:.6g} {:.6g}", row->tp, 1e3 * s.median, 1e3 * s.p5, 1e3 * s.p95);
    for (const std::string model : models)
      data += fmt::format(" {:.6g}", 1e3 * figure_value(*row, model + "_s"));
    // Measured where ranks share cores it would say something of the cores.
    const auto claimed = [&](double seconds) {
      return row->oversubscribed ? NAN : 100 * single / (row->tp * seconds);
    };
    data += fmt::format(
        " {:.6g} {:.6g} {:.6g} {:.6g}", claimed(s.median), formula_efficiency(*row, models[0], single),
        formula_efficiency(*row, models[1], single), claimed(figure_value(*row, "model_calibrated_s")));
    for (const std::string model : models)
      data += fmt::format(" {:.6g}", 100 * (figure_value(*row, model + "_s") / s.median - 1));
    data += "\n";
  }
  return data + "EOD\n";
}

// The same layer by an outside implementation. Columns: T, median (ms), efficiency.
RowPointers outside_steps_of(const Results& results, const std::string& sp) {
  RowPointers rows;
  for (const Row& row : results.rows)
    if (row.kind == "outside_step" && row.status == "ok" && (row.tp == 1 || row.sequence_parallel == sp))
      rows.push_back(&row);
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->tp < b->tp; });
  return rows;
}

std::string outside_data(const RowPointers& rows) {
  std::string data = "$outside << EOD\n";
  for (const Row* row : rows) {
    const double efficiency = row->tp == 1 ? 1 : figure_value(*row, "efficiency");
    data += fmt::format("{} {:.6g} {:.6g}\n", row->tp, 1e3 * row->seconds.median, 100 * efficiency);
  }
  return data + "EOD\n";
}

std::string outside_line(const RowPointers& rows, int column) {
  if (rows.empty()) return "";
  return fmt::format(", $outside using 1:{} with linespoints pt 9 ps 1.1 lw 2 dt 1 lc rgb '{}' title '{}'",
                     column, colour::vermilion, rows.front()->implementation);
}

// Behind the degrees that say less than they seem to.
std::string shading(const RowPointers& rows) {
  std::string script;
  int number = 1;
  const auto shade = [&](const char* fill, const char* label, double height,
                         const std::function<bool(const Row&)>& affected) {
    RowPointers some;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
                 [&](const Row* row) { return affected(*row); });
    if (some.empty()) return;
    const double first = some.front()->tp;
    const double last = some.back()->tp;
    script += fmt::format(
        "set object {0} rectangle from first {1:.4g}, graph 0 to first {2:.4g}, graph 1 behind fc rgb '{3}' "
        "fs solid 1 "
        "noborder\nset label {0} '{4}' at first {5:.4g}, graph {6} center font ',9' tc rgb '#555555'\n",
        number, first / 1.3, last * 1.3, fill, label, std::sqrt(first * last), height);
    ++number;
  };
  shade("#eeeeee", "more ranks than cores", 1.04, [](const Row& row) { return row.oversubscribed; });
  shade("#fbe9e0", "across hosts", 0.96, [](const Row& row) { return row.hosts > 1; });
  return script;
}

std::string degree_axis(const RowPointers& rows) {
  std::string tics;
  for (const Row* row : rows) tics += fmt::format("{}{}", tics.empty() ? "" : ",", row->tp);
  constexpr double margin = 1.35;
  return fmt::format("set logscale x 2\nset xtics ({})\nset xrange [{}:{}]\n", tics, 1 / margin,
                     rows.back()->tp * margin);
}

// The three model lines in the columns from `first` on.
std::string model_lines(int first) {
  constexpr std::array looks = {std::tuple{"document''s formula", colour::orange, 2},
                                std::tuple{"wire bound (ring)", colour::green, 4},
                                std::tuple{"calibrated model", colour::blue, 5}};
  std::string script;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const auto& [label, colour, dash] = looks[i];
    script +=
        fmt::format(", $steps using 1:{} with linespoints pt {} ps 0.8 lw 2 dt {} lc rgb '{}' title '{}'",
                    first + static_cast<int>(i), dash, dash, colour, label);
  }
  return script;
}

constexpr const char* measured_line =
    "with linespoints pt 7 ps 1.1 lw 2.5 dt 1 lc rgb '#000000' title 'measured'";

Chart step_chart(const RowPointers& rows, const RowPointers& outside, const std::string& sp) {
  const Row& last = *rows.back();
  Chart chart;
  chart.name = "step_sp_" + sp;
  chart.title = fmt::format("{} of {} layer{}, sequence parallelism {}: B {}, S {}, H {}, {}, {}", last.pass,
                            last.layers, last.layers == 1 ? "" : "s", sp, last.batch, last.sequence,
                            last.hidden, last.dtype, last.transport);
  chart.height = 1050;
  std::string& s = chart.script;
  s = step_data(rows) + outside_data(outside) + chart_style + degree_axis(rows) + shading(rows);
  s += fmt::format("set multiplot layout 3,1 title '{}' font ',13' noenhanced\n", chart.title);
  s += "set lmargin 11\nset rmargin 28\nset tmargin 2\nset ylabel 'time, ms'\nset yrange [0:*]\n";
  s += fmt::format(
      "plot $steps using 1:3:4 with filledcurves fc rgb '{}' fs transparent solid 0.35 noborder title "
      "'measured, p5 - p95', $steps using 1:2 {}",
      colour::sky, measured_line);
  s += outside_line(outside, 2) + model_lines(5) +
       "\nset ylabel 'efficiency, % of T = 1'\nset yrange [0:110]\n";
  s += "plot 100 with lines lw 1 dt 3 lc rgb '#aaaaaa' title 'ideal', $steps using 1:8 " +
       std::string(measured_line) + outside_line(outside, 3) + model_lines(9) +
       "\nset ylabel 'model / measured - 1, %'\nset xlabel 'tensor-parallel degree T'\nset yrange [*:*]\n";
  s += "plot 0 with lines lw 1 lc rgb '#888888' notitle" + model_lines(12) + "\nunset multiplot\n";
  return chart;
}

}  // namespace

std::string figure_or_nan(const Row& row, const std::string& name) {
  const auto found = row.figures.find(name);
  return found == row.figures.end() ? "NaN" : fmt::format("{:.9g}", found->second);
}

std::vector<Chart> step_charts(const Results& results) {
  std::set<std::string> forms;
  for (const Row& row : results.rows)
    if (row.kind == "step" && row.status == "ok" && row.tp > 1 && row.figures.contains("model_document_s"))
      forms.insert(row.sequence_parallel);
  std::vector<Chart> charts;
  for (const std::string& sp : forms) {
    const RowPointers rows = steps_of(results, sp);
    if (rows.size() > 1 && rows.front()->tp == 1)
      charts.push_back(step_chart(rows, outside_steps_of(results, sp), sp));
  }
  return charts;
}

std::optional<Chart> split_chart(const Results& results) {
  std::string data = "$split << EOD\n";
  std::size_t bars = 0;
  for (const Row& row : results.rows) {
    if (row.kind != "step" || row.status != "ok") continue;
    ++bars;
    std::string form = row.tp == 1 ? "" : ", sp " + row.sequence_parallel;
    std::replace(form.begin(), form.end(), '_', ' ');
    data += fmt::format("\"T = {}{}{}\"", row.tp, row.oversubscribed ? "*" : "", form);
    for (const char* part : {"products_s", "other_compute_s", "exposed_communication_s", "launch_s"})
      data += " " + figure_or_nan(row, part);
    data += "\n";
  }
  if (bars < 2) return std::nullopt;
  Chart chart;
  chart.name = "split";
  chart.title = "Where the time of a step goes, mean of the ranks (* more ranks than cores)";
  chart.height = 560;
  chart.script = data + "EOD\n" + chart_style;
  chart.script += fmt::format(
      "set title '{}' font ',13' noenhanced\nset style data histograms\nset style histogram rowstacked\n"
      "set style fill solid 1 border lc rgb '#ffffff'\nset boxwidth 0.7\nset yrange [0:*]\nset ylabel 'ms'\n"
      "set rmargin 26\nset bmargin 9\nset xtics rotate by -40 noenhanced\n"
      "plot $split using (1e3*$2):xtic(1) lc rgb '{}' title 'products', '' using (1e3*$3) lc rgb '{}' title "
      "'other "
      "compute', '' using (1e3*$4) lc rgb '{}' fs pattern 2 title 'exposed communication', '' using (1e3*$5) "
      "lc rgb "
      "'{}' title 'launch, memory'\n",
      chart.title, colour::blue, colour::sky, colour::vermilion, colour::black);
  return chart;
}

}  // namespace tpc::bench
