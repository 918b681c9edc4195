// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "bench/report/chart_style.hpp"
#include "bench/report/charts.hpp"

namespace tpc::bench {

namespace {

struct Curve {
  int tp = 2;
  RowPointers rows;
  const FittedCollective* fit = nullptr;
};

std::vector<Curve> curves_of(const Results& results, CollectiveKind kind) {
  std::map<int, Curve> by_degree;
  for (const Row& row : results.rows)
    if (row.kind == "collective" && row.status == "ok" && row.op == tpc::name(kind))
      by_degree[row.tp].rows.push_back(&row);
  std::vector<Curve> curves;
  for (auto& [tp, curve] : by_degree) {
    curve.tp = tp;
    for (const FittedCollective& fit : results.fits)
      if (fit.kind == kind && fit.ranks == tp) curve.fit = &fit;
    if (curve.rows.size() > 1) curves.push_back(std::move(curve));
  }
  return curves;
}

// Columns: bytes; µs measured, p5, p95, fitted; GB/s on the bus.
std::string data_of(const Curve& curve, const std::string& block) {
  std::string data = block + " << EOD\n";
  for (const Row* row : curve.rows) {
    const double fitted =
        curve.fit == nullptr ? NAN : 1e6 * curve.fit->line.seconds(static_cast<double>(row->payload_bytes));
    data += fmt::format("{} {:.6g} {:.6g} {:.6g} {:.6g} {}\n", row->payload_bytes, 1e6 * row->seconds.median,
                        1e6 * row->seconds.p5, 1e6 * row->seconds.p95, fitted,
                        figure_or_nan(*row, "bus_bandwidth_gb_per_s"));
  }
  return data + "EOD\n";
}

struct Panels {
  std::string data;
  std::string times;
  std::string rates;
};

Panels panels_of(const Results& results, CollectiveKind kind) {
  constexpr std::array colours = {colour::blue, colour::vermilion, colour::green, colour::orange,
                                  colour::black};
  Panels panels;
  const std::vector<Curve> curves = curves_of(results, kind);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::string block = fmt::format("${}_{}", tpc::name(kind), curves[i].tp);
    panels.data += data_of(curves[i], block);
    const char* colour = colours.at(i % colours.size());
    const std::size_t point = 5 + 2 * i;
    const std::string label =
        fmt::format("T = {}{}", curves[i].tp, curves[i].rows.front()->oversubscribed ? "*" : "");
    const char* begin = i == 0 ? "plot " : ", ";
    panels.times += fmt::format(
        "{0}{1} using 1:2:3:4 with yerrorbars pt {2} ps 0.8 lc rgb '{3}' title '{4}', {1} using "
        "1:5 with lines dt 2 lw 1.5 lc rgb '{3}' notitle",
        begin, block, point, colour, label);
    panels.rates += fmt::format("{}{} using 1:6 with linespoints pt {} ps 0.8 lw 1.5 lc rgb '{}' title '{}'",
                                begin, block, point, colour, label);
  }
  return panels;
}

// A tic for every 16-fold size that was measured.
std::string axes(const Results& results) {
  constexpr std::pair<const char*, double> tics[] = {
      {"8 B", 8.0},          {"128 B", 128.0},     {"2 KiB", 2048.0},        {"32 KiB", 32768.0},
      {"512 KiB", 524288.0}, {"8 MiB", 8388608.0}, {"128 MiB", 134217728.0}, {"2 GiB", 2147483648.0}};
  double largest = 0;
  for (const Row& row : results.rows)
    if (row.kind == "collective") largest = std::max(largest, static_cast<double>(row.payload_bytes));
  std::string listed;
  for (const auto& [label, bytes] : tics)
    if (bytes <= largest) listed += fmt::format("{}'{}' {:.0f}.0", listed.empty() ? "" : ", ", label, bytes);
  return "set logscale xy\nset format y '%g'\nset xtics rotate by -40 (" + listed + ")\n";
}

}  // namespace

std::optional<Chart> collective_chart(const Results& results) {
  Chart chart;
  chart.name = "collectives";
  chart.title = "Collectives: measured (points, p5 - p95) and fitted (dashed); * more ranks than cores";
  chart.width = 1300;
  chart.height = 850;
  std::string times;
  std::string rates;
  for (const CollectiveKind kind : timed_collectives) {
    const Panels panels = panels_of(results, kind);
    if (panels.times.empty()) return std::nullopt;
    chart.script += panels.data;
    times += fmt::format("set title '{}' noenhanced\n{}\n", tpc::name(kind), panels.times);
    rates += "unset title\n" + panels.rates + "\n";
  }
  chart.script += std::string(chart_style) + axes(results);
  chart.script += "unset key\n";
  chart.script += fmt::format("set multiplot layout 2,3 title '{}' font ',13'\n", chart.title);
  chart.script += "set ylabel 'time, µs'\n" + times;
  chart.script +=
      "set ylabel 'bus bandwidth (ring-equivalent), GB/s'\nset xlabel 'payload'\nset key inside right "
      "bottom\n" +
      rates;
  chart.script += "unset multiplot\n";
  return chart;
}

std::vector<Chart> all_charts(const Results& results) {
  std::vector<Chart> charts = step_charts(results);
  for (auto chart : {split_chart(results), collective_chart(results)})
    if (chart) charts.push_back(std::move(*chart));
  return charts;
}

}  // namespace tpc::bench
