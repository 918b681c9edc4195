// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/formulas.hpp"
#include "bench/published/check.hpp"
#include "bench/published/models.hpp"

namespace tpc::bench {

namespace {

constexpr double ranks = 8;
constexpr double mib = 1024.0 * 1024.0;
constexpr double gib = 1024.0 * mib;

const std::vector<std::string> schemes = {"none",
                                          "tensor_parallel",
                                          "sequence_parallel",
                                          "selective",
                                          "sequence_parallel_selective",
                                          "full_recompute",
                                          "sequence_parallel_kept"};

double layer_bytes(const std::string& scheme, const PublishedModel& model) {
  return activation_bytes(activation_scheme_named(scheme), model.shape, ranks);
}

void check_layers(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("activation_layer");
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const std::string& scheme : schemes)
      checks.push_back(exact(table.name(), table.text(row, "model") + " " + scheme, "MiB",
                             layer_bytes(scheme, published_model(tables, table.text(row, "model"))) / mib,
                             table.figure(row, scheme)));
}

void check_totals(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("activation_total");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const PublishedModel model = published_model(tables, table.text(row, "model"));
    const double stages = table.number(row, "stages");
    const double layers = model.shape.layers * first_stage_factor(stages, table.number(row, "chunks"));
    const auto check = [&](const std::string& column, double bytes) {
      checks.push_back(
          exact(table.name(), model.name + " " + column, "GiB", bytes / gib, table.figure(row, column)));
    };
    check("tensor_parallel_gib", layers * layer_bytes("tensor_parallel", model));
    check("sequence_parallel_selective_gib", layers * layer_bytes("sequence_parallel_selective", model));
    // 16-bit weight and gradient, f32 gradient sum, weight and two moments of Adam; 12h² weights a layer.
    constexpr double bytes_per_weight = 18;
    const double weights = 12 * model.shape.layers * model.shape.hidden * model.shape.hidden;
    check("parameters_and_optimizer_gib", weights * bytes_per_weight / (ranks * stages));
  }
}

void check_shares(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("activation_share");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const PublishedModel model = published_model(tables, table.text(row, "model"));
    for (const char* scheme :
         {"sequence_parallel", "selective", "sequence_parallel_selective", "full_recompute"})
      checks.push_back(in_band(table.name(), model.name + " " + scheme, "%",
                               100 * layer_bytes(scheme, model) / layer_bytes("tensor_parallel", model),
                               table.figure(row, scheme), 0.2));
  }
}

void check_selective(const Tables& tables, Checks& checks) {
  const Table& table = tables.at("selective_recompute");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const PublishedModel model = published_model(tables, table.text(row, "model"));
    const auto check = [&](const std::string& column, double ours) {
      if (table.has(row, column))
        checks.push_back(exact(table.name(), model.name + " " + column, "", ours, table.figure(row, column)));
    };
    const double core = 5 * model.shape.heads * model.shape.sequence / model.shape.hidden;
    check("attention_core", core);
    check("saved_percent", 100 * core / (34 + core));
    const double added = hardware_flops(model.shape, Recompute::selective) / model_flops(model.shape) - 1;
    check("added_flops_percent", 100 * added);
  }
}

}  // namespace

Checks check_activations(const Tables& tables) {
  Checks checks;
  check_layers(tables, checks);
  check_totals(tables, checks);
  check_shares(tables, checks);
  check_selective(tables, checks);
  return checks;
}

}  // namespace tpc::bench
