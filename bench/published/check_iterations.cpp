// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/formulas.hpp"
#include "bench/published/check.hpp"
#include "bench/published/models.hpp"

namespace tpc::bench {

namespace {

constexpr double a100_flops_per_s = 312e12;

void check_layer_times(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("layer_times");
  const double baseline = table.number(table.row_where("scheme", "baseline"), "total_ms");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& scheme = table.text(row, "scheme");
    const double sum = table.number(row, "forward_ms") + table.number(row, "backward_ms");
    checks.push_back(
        exact(table.name(), scheme + " forward + backward", "ms", sum, table.figure(row, "total_ms")));
    checks.push_back(exact(table.name(), scheme + " overhead", "%",
                           100 * (table.number(row, "total_ms") / baseline - 1),
                           table.figure(row, "overhead_percent")));
  }
}

void check_utilisation(const Tables& tables, Checks& checks) {
  constexpr double points = 0.2;
  const Table& table = tables.at("iteration_times");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    PublishedModel model = published_model(tables, table.text(row, "model"));
    model.shape.batch = table.number(row, "global_batch");
    const double peak = table.number(row, "seconds") * table.number(row, "gpus") * a100_flops_per_s;
    const std::string what = model.name + " on " + table.text(row, "gpus") + " GPUs, ";
    checks.push_back(in_band(table.name(), what + "model FLOP/s utilisation", "%",
                             100 * model_flops(model.shape) / peak, table.figure(row, "mfu_percent"),
                             points));
    if (table.has(row, "hfu_percent"))
      checks.push_back(in_band(table.name(), what + "hardware FLOP/s utilisation", "%",
                               100 * hardware_flops(model.shape, Recompute::selective) / peak,
                               table.figure(row, "hfu_percent"), points));
  }
}

void check_strong_scaling(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("strong_scaling");
  for (std::size_t row = 0; row < table.rows(); ++row)
    checks.push_back(exact(table.name(), "efficiency at T = " + table.text(row, "tp"), "%",
                           100 * table.number(row, "speed_up") / table.number(row, "tp"),
                           table.figure(row, "efficiency_percent")));
}

void check_throughput(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("throughput");
  for (std::size_t row = 0; row < table.rows(); ++row)
    checks.push_back(exact(table.name(), table.text(row, "parameters_billion") + " billion parameters, peak",
                           "%", 100 * table.number(row, "tflops") * 1e12 / a100_flops_per_s,
                           table.figure(row, "percent_of_peak")));
}

// All rows of a micro-batch have the same GPUs and global batch, so efficiency is time over time.
void check_ladder(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("tp_ladder");
  double single = 0;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "tp") == "1") single = table.number(row, "iteration_ms");
    if (!table.has(row, "percent")) continue;
    const std::string what =
        "micro-batch " + table.text(row, "micro_batch") + ", T = " + table.text(row, "tp");
    checks.push_back(exact(table.name(), what + ", efficiency", "%",
                           100 * single / table.number(row, "iteration_ms"), table.figure(row, "percent")));
  }
}

// Six all_reduces a layer (full recomputation) of the measured time, for each micro-batch of a replica.
void check_ladder_communication(const Tables& tables, Checks& checks) {
  constexpr double layers = 30;
  constexpr double sequences_per_replica_and_rank = 512.0 / 64;
  const Table& ladder = tables.at("tp_ladder");
  const Table& measured = tables.at("allreduce_96mib");
  double single = 0;
  for (std::size_t row = 0; row < ladder.rows(); ++row) {
    if (ladder.text(row, "tp") == "1") single = ladder.number(row, "iteration_ms");
    if (!ladder.has(row, "explained_percent")) continue;
    const double tp = ladder.number(row, "tp");
    const double micro_batches = sequences_per_replica_and_rank * tp / ladder.number(row, "micro_batch");
    const double one_ms = measured.number(measured.row_where("ranks", ladder.text(row, "tp")), "time_ms");
    const double extra = ladder.number(row, "iteration_ms") - single;
    checks.push_back(in_band(ladder.name(), "T = " + ladder.text(row, "tp") + ", explained by all_reduces",
                             "%", 100 * 6 * layers * micro_batches * one_ms / extra,
                             ladder.figure(row, "explained_percent"), 2));
  }
}

}  // namespace

Checks check_iterations(const Tables& tables) {
  Checks checks;
  check_layer_times(tables, checks);
  check_utilisation(tables, checks);
  check_strong_scaling(tables, checks);
  check_throughput(tables, checks);
  check_ladder(tables, checks);
  check_ladder_communication(tables, checks);
  return checks;
}

}  // namespace tpc::bench
