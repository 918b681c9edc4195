// SPDX-License-Identifier: Apache-2.0
#include "bench/predict/predict_report.hpp"

#include "bench/report/units.hpp"
#include "bench/steps/dry_step.hpp"

namespace tpc::bench {

namespace {

void add_link(const PredictionRequest& request, const Interconnect& link, const StepContent& content,
              PredictedStep& step) {
  const Levels levels = levels_of(request.all_links, link, step.tp);
  step.hosts = levels.hosts;
  for (const TraceRow& call : content.calls) {
    const LinkTimes times = link_times(levels, call.kind, static_cast<double>(call.payload));
    step.document_s += times.document_s;
    step.bound_s += times.bound_s;
    step.expected_s += times.expected_s;
  }
}

PredictedStep predicted(const PredictionRequest& request, const Interconnect& link, const StackShape& shape,
                        int tp, const ComputeModel& compute) {
  PredictedStep step;
  step.link = link.name;
  step.sequence_parallel = shape.form.sequence_parallel;
  step.tp = tp;
  try {
    const StepContent content = dry_step(shape, request.pass, tp);
    step.payload_bytes = content.payload_bytes();
    step.ring_wire_bytes = content.ring_wire_bytes();
    step.kept_bytes = static_cast<double>(content.saved_bytes);
    add_link(request, link, content, step);
    const auto nothing = [](CollectiveKind, int, double) { return 0.0; };
    step.compute_s = predict_step(content, tp, compute, nothing).step_s();
    step.step_s = step.compute_s + step.expected_s;
  } catch (const Refusal& refusal) {
    step.refused = refusal.what();
  }
  return step;
}

}  // namespace

std::vector<PredictedStep> predict_all(const PredictionRequest& request, const ComputeModel& compute) {
  std::vector<PredictedStep> all;
  for (const Interconnect& link : request.links)
    for (const SequenceParallel sp : request.sequence_parallel) {
      StackShape shape = request.shape;
      shape.form = {sp};
      const PredictedStep one = predicted(request, link, shape, 1, compute);
      all.push_back(one);
      all.back().efficiency = 1;
      for (const int tp : request.tp) {
        if (tp == 1) continue;
        all.push_back(predicted(request, link, shape, tp, compute));
        PredictedStep& step = all.back();
        if (step.refused.empty()) step.efficiency = one.step_s / (tp * step.step_s);
      }
    }
  return all;
}

std::string prediction_table(const std::vector<PredictedStep>& steps) {
  std::string table =
      fmt::format("{:<9} {:<10} {:>3} {:>5} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>6}\n",
                  "link", "seq. par.", "T", "hosts", "payload", "ring wire", "kept", "document", "bound",
                  "expected", "compute", "step", "eff.");
  for (const PredictedStep& s : steps) {
    if (!s.refused.empty()) {
      table +=
          fmt::format("{:<9} {:<10} {:>3} refused: {}\n", s.link, name(s.sequence_parallel), s.tp, s.refused);
      continue;
    }
    table += fmt::format(
        "{:<9} {:<10} {:>3} {:>5} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>5.1f}%\n",
        s.link, name(s.sequence_parallel), s.tp, s.hosts, bytes_text(s.payload_bytes),
        bytes_text(s.ring_wire_bytes), bytes_text(s.kept_bytes), seconds_text(s.document_s),
        seconds_text(s.bound_s), seconds_text(s.expected_s), seconds_text(s.compute_s),
        seconds_text(s.step_s), 100 * s.efficiency);
  }
  return table;
}

}  // namespace tpc::bench
