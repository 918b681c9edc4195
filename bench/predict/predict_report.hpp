// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/predict/calibration.hpp"

namespace tpc::bench {

struct PredictionRequest {
  StackShape shape;  // its form aside
  std::vector<SequenceParallel> sequence_parallel;
  Pass pass = Pass::step;
  std::vector<int> tp;
  std::vector<Interconnect> links;      // to predict for
  std::vector<Interconnect> all_links;  // to look up what lies beyond
};

// One degree on one link.
struct PredictedStep {
  std::string link;
  SequenceParallel sequence_parallel = SequenceParallel::off;
  int tp = 1;
  int hosts = 1;
  double payload_bytes = 0;    // of all collectives
  double ring_wire_bytes = 0;  // sent by a rank
  double kept_bytes = 0;       // for backward, on a rank
  double document_s = 0;       // communication by the document's formula, by the wire bound, as expected
  double bound_s = 0;
  double expected_s = 0;
  double compute_s = 0;
  double step_s = 0;
  double efficiency = 0;  // strong: step at T = 1 over T times the step
  std::string refused;    // why there is no such step
};
std::vector<PredictedStep> predict_all(const PredictionRequest& request, const ComputeModel& compute);

std::string prediction_table(const std::vector<PredictedStep>& steps);

}  // namespace tpc::bench
