// SPDX-License-Identifier: Apache-2.0
// What a machine can do, as far as a step needs it: measured, or taken from a data sheet.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "bench/cost_model/interconnect.hpp"
#include "bench/report/results.hpp"
#include "bench/steps/dry_step.hpp"

namespace tpc::bench {

struct ComputeModel {
  // Seconds of one product on each of `ranks` ranks at once.
  std::function<double(const Product& shape, int ranks)> product_s;
  // Seconds of a kernel over so many bytes of operands, on each of `ranks` ranks at once.
  std::function<double(const std::string& kernel, double bytes, int ranks)> kernel_s;
  double launch_s = 0;  // of each kernel and product
};

// From the rows of a run. Products of shapes that were not measured on so many ranks run at the rate of the
// measured shape that is nearest in operations; where ranks exceed cores, whatever was measured on one rank
// takes longer by their ratio.
ComputeModel compute_model(const Results& results);

// A device as its data sheet describes it.
struct Device {
  std::string name;
  std::string title;
  std::string source;
  std::map<std::string, double> flops_per_s;  // by dtype
  double memory_bytes_per_s = 0;
  double product_efficiency = 1;  // share of the peak that large products reach
  double memory_efficiency = 1;
  double launch_s = 0;
};
std::vector<Device> read_devices(const std::filesystem::path& file);  // throws UsageError
const Device& device_named(const std::vector<Device>& devices, const std::string& name);
ComputeModel compute_model(const Device& device, DType dtype);

struct StepPrediction {
  double products_s = 0;
  double other_compute_s = 0;
  double launch_s = 0;
  double communication_s = 0;
  double step_s() const { return products_s + other_compute_s + launch_s + communication_s; }
};

// Seconds of one collective.
using CollectiveModel = std::function<double(CollectiveKind kind, int ranks, double payload_bytes)>;
// The fits of a run; where one is missing for so many ranks, nothing can be said and NaN comes back.
CollectiveModel collective_model(const Results& results);
CollectiveModel collective_model(const std::vector<Interconnect>& all, const Interconnect& link);

StepPrediction predict_step(const StepContent& content, int ranks, const ComputeModel& compute,
                            const CollectiveModel& collectives);

}  // namespace tpc::bench
