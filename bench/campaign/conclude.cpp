// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "bench/campaign/campaign.hpp"
#include "bench/cost_model/formulas.hpp"
#include "bench/predict/calibration.hpp"

namespace tpc::bench {

namespace {

bool usable(const Row& row) { return row.status == "ok" && !row.series.slowest.empty(); }

std::span<const double> steady(const Row& row) {
  return std::span(row.series.slowest).subspan(row.seconds.steady_from);
}

std::vector<FittedCollective> fitted(const std::vector<Row>& rows) {
  std::map<std::pair<CollectiveKind, int>, std::vector<Timing>> timings;
  std::map<int, std::string> transports;
  for (const Row& row : rows)
    for (const CollectiveKind kind : timed_collectives)
      if (usable(row) && row.kind == "collective" && row.op == tpc::name(kind)) {
        timings[{kind, row.tp}].push_back(
            {static_cast<double>(row.payload_bytes), trimmed_mean(steady(row))});
        transports[row.tp] = row.transport;
      }
  std::vector<FittedCollective> fits;
  for (const auto& [which, points] : timings) {
    FittedCollective fit{
        which.first, which.second, transports[which.second], PiecewiseAlphaBeta::fit(points), 0, 0};
    std::vector<double> predicted;
    std::vector<double> measured;
    for (const Timing& point : points) {
      predicted.push_back(fit.line.seconds(point.payload_bytes));
      measured.push_back(point.seconds);
    }
    const RelativeErrors errors = relative_errors(predicted, measured);
    fit.mean_error = errors.mean;
    fit.max_error = errors.max;
    fits.push_back(std::move(fit));
  }
  return fits;
}

// The fastest that any collective filled the links between these ranks: what stands for the rate in formulas
// that divide by one.
double link_rate(const std::vector<Row>& rows) {
  double best = 0;
  for (const Row& row : rows) {
    const auto rate = row.figures.find("bus_bandwidth_gb_per_s");
    if (usable(row) && row.kind == "collective" && rate != row.figures.end())
      best = std::max(best, rate->second * 1e9);
  }
  return best;
}

const Row* find_row(const std::vector<Row>& rows, const std::string& kind, int tp, const std::string& sp) {
  for (const Row& row : rows)
    if (usable(row) && row.kind == kind && row.tp == tp && row.sequence_parallel == sp) return &row;
  return nullptr;
}

void add_overlap(const std::vector<Row>& rows, Row& step) {
  const Row* computes = find_row(rows, "compute_only", step.tp, step.sequence_parallel);
  const Row* communicates = find_row(rows, "communication_only", step.tp, step.sequence_parallel);
  if (computes == nullptr || communicates == nullptr) return;
  const double compute = computes->seconds.median;
  const double communication = communicates->seconds.median;
  step.figures["compute_only_s"] = compute;
  step.figures["communication_only_s"] = communication;
  step.figures["hidden_share"] = overlap_of_benchmarks(communication, compute, step.seconds.median);
}

// What overlapping won against the same form without it.
void add_gain(const std::vector<Row>& rows, Row& step) {
  const Form form = form_named(step.sequence_parallel);
  const std::string plain = name(Form{form.sequence_parallel});
  const Row* separate = find_row(rows, "step", step.tp, plain);
  const Row* computes = find_row(rows, "compute_only", step.tp, plain);
  if (!form.overlaps() || separate == nullptr || computes == nullptr) return;
  const double best = computes->seconds.median;
  step.figures["separate_s"] = separate->seconds.median;
  step.figures["overlap_gain"] = separate->seconds.median / step.seconds.median - 1;
  step.figures["overlap_efficiency"] =
      overlap_efficiency(separate->seconds.median, step.seconds.median, best, best);
}

void add_losses(const std::vector<Row>& rows, const Row& single, Row& step) {
  const Row* one = find_row(rows, "products_only", 1, "off");
  const Row* these = find_row(rows, "products_only", step.tp, "off");
  if (one != nullptr && these != nullptr) {
    step.figures["products_alone_s"] = these->seconds.median;
    step.figures["loss_of_smaller_products_s"] = these->seconds.median - one->seconds.median / step.tp;
  }
  step.figures["speed_up"] = single.seconds.median / step.seconds.median;
  if (!step.oversubscribed) step.figures["efficiency"] = step.figures["speed_up"] / step.tp;
}

// Each outside implementation against itself on one rank, and against the reference.
void conclude_outside(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (row.kind != "outside_step" || !usable(row)) continue;
    const Row* single = find_row(rows, "outside_step", 1, "off");
    const Row* ours = find_row(rows, "step", row.tp, row.tp == 1 ? "off" : row.sequence_parallel);
    if (ours != nullptr) row.figures["beside_reference"] = row.seconds.median / ours->seconds.median;
    if (row.tp == 1 || single == nullptr) continue;
    row.figures["speed_up"] = single->seconds.median / row.seconds.median;
    if (!row.oversubscribed) row.figures["efficiency"] = row.figures["speed_up"] / row.tp;
  }
}

}  // namespace

void conclude(const CampaignSetting& setting, Results& results) {
  for (Row& row : results.rows) {
    if (!usable(row)) continue;
    row.figures["same_same_band"] = spread(equal_medians(row));
    results.same_same_band = std::max(results.same_same_band, row.figures["same_same_band"]);
  }
  results.fits = fitted(results.rows);
  conclude_outside(results.rows);
  const Row* single = find_row(results.rows, "step", 1, "off");
  if (single == nullptr) return;
  const double single_s = single->seconds.median;
  const ComputeModel compute = compute_model(results);
  const CollectiveModel collectives = collective_model(results);
  const double rate = link_rate(results.rows);
  for (Row& row : results.rows) {
    if (row.kind != "step" || !usable(row)) continue;
    StackShape shape = setting.shape;
    shape.form = form_named(row.sequence_parallel);
    const StepContent content = dry_step(shape, setting.pass, row.tp);
    const StepPrediction predicted = predict_step(content, row.tp, compute, collectives);
    const bool modelled = !shape.form.overlaps();  // the models hide nothing
    if (modelled && std::isfinite(predicted.step_s())) {
      row.figures["model_calibrated_s"] = predicted.step_s();
      row.figures["model_communication_s"] = predicted.communication_s;
    }
    // Ranks that share cores compute no faster than the cores do.
    const double shared =
        single_s / (row.oversubscribed ? std::min(row.tp, results.run.provenance.cores) : row.tp);
    if (modelled && (row.tp == 1 || rate > 0)) {
      const double document = row.tp == 1 ? 0 : content.payload_bytes() / rate;
      const double bound = row.tp == 1 ? 0 : content.ring_wire_bytes() / rate;
      row.figures["model_document_communication_s"] = document;
      row.figures["model_wire_bound_communication_s"] = bound;
      row.figures["model_document_s"] = shared + document;
      row.figures["model_wire_bound_s"] = shared + bound;
    }
    if (row.tp > 1) {
      add_overlap(results.rows, row);
      add_gain(results.rows, row);
      add_losses(results.rows, *single, row);
    }
  }
}

}  // namespace tpc::bench
