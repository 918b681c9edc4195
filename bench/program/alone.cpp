// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/predict/predict_report.hpp"
#include "bench/program/bench_main.hpp"
#include "bench/published/check.hpp"
#include "bench/report/tables.hpp"
#include "harness/values/machine/data_path.hpp"

namespace tpc::bench {

int validate(const BenchOptions& options) {
  const Tables tables = read_tables(data_path("results/published"));
  const Checks checks = check_all(tables);
  fmt::print("{}", validation_report(checks, model_errors(tables), options.every_row));
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.holds(); }) ? 0 : 1;
}

namespace {

PredictionRequest request_of(const BenchOptions& options) {
  PredictionRequest request;
  request.shape = shape_of(options);
  request.sequence_parallel = options.sequence_parallel;
  request.pass = options.pass;
  request.tp = options.tp;
  request.all_links = read_interconnects(data_path("bench/interconnects.json"));
  for (const std::string& name : options.interconnects) {
    if (name == "measured") continue;  // of a calibration
    if (!name.ends_with(".json")) {
      request.links.push_back(interconnect_named(request.all_links, name));
      continue;
    }
    for (const Interconnect& link : read_interconnects(name)) {
      request.links.push_back(link);
      request.all_links.push_back(link);
    }
  }
  return request;
}

std::string problem_line(const PredictionRequest& request, const std::string& basis) {
  const StackShape& s = request.shape;
  const ModelConfig& m = s.model;
  return fmt::format(
      "{} layers, H {}, A {}, K {}, F {}, B {}, S {}, {}, {}; embedding, head and loss left out\n"
      "computation: {}\n",
      m.layers, m.hidden, m.heads, m.kv_heads, m.ffn, s.batch, s.sequence, tpc::name(s.dtype),
      name(request.pass), basis);
}

}  // namespace

int predict(const BenchOptions& options) {
  const PredictionRequest request = request_of(options);
  ComputeModel compute;
  std::string basis;
  if (options.calibration.empty()) {
    const Device device = device_named(read_devices(data_path("bench/devices.json")), options.device);
    compute = compute_model(device, options.dtype);
    basis = fmt::format(
        "{}, {:.0f} % of the peak in products, {:.0f} % of the memory rate elsewhere (assumed; "
        "--calibration bench.json replaces it)",
        device.title, 100 * device.product_efficiency, 100 * device.memory_efficiency);
  } else {
    const Results results = read_results(options.calibration);
    compute = compute_model(results);
    basis = "measured: " + headline(results).substr(0, headline(results).find('\n'));
  }
  fmt::print("{}\n{}", problem_line(request, basis), prediction_table(predict_all(request, compute)));
  fmt::print(
      "document: payload / headline rate; bound: wire bytes of a ring at the full rate; expected: with "
      "efficiency, latency and what the switch reduces\n");
  return 0;
}

}  // namespace tpc::bench
