// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "bench/published/check.hpp"
#include "bench/published/measured.hpp"

namespace tpc::bench {

namespace {

ModelError from_checks(const Checks& checks, const std::string& table, const std::string& what) {
  std::vector<double> ours;
  std::vector<double> published;
  for (const Check& check : checks)
    if (check.table == table && (check.gate == Gate::exact || check.gate == Gate::band) &&
        check.published != 0) {
      ours.push_back(check.ours);
      published.push_back(check.published);
    }
  const RelativeErrors errors = relative_errors(ours, published);
  return {"ours", what, 100 * errors.mean, 100 * errors.max};
}

ModelError fit_error(const Tables& tables, const std::string& gpu) {
  RelativeErrors all;
  for (int ranks = 2; ranks <= 8; ++ranks) {
    const auto timings = published_all_reduces(tables, gpu, ranks, large_message_bytes);
    const RelativeErrors errors = errors_of(fit_alpha_beta(timings), timings);
    all.mean += errors.mean / 7;
    all.max = std::max(all.max, errors.max);
  }
  return {"ours", "all_reduce from 16 MiB, alpha + bytes/rate, " + gpu, 100 * all.mean, 100 * all.max};
}

}  // namespace

std::vector<ModelError> model_errors(const Tables& tables) {
  const Checks activations = check_activations(tables);
  const Checks iterations = check_iterations(tables);
  const Checks collectives = check_collectives(tables);
  std::vector<ModelError> errors = {
      from_checks(activations, "activation_total", "kept activations, parameters (figure 1)"),
      from_checks(activations, "activation_share", "kept activations (figure 7)"),
      from_checks(iterations, "iteration_times", "FLOP/s utilisation (table 5)"),
      fit_error(tables, "a100"),
      fit_error(tables, "v100"),
      from_checks(collectives, "allreduce_96mib", "all_reduce of a size the fit has not seen, a100")};
  const Table& published = tables.at("model_accuracy");
  for (std::size_t row = 0; row < published.rows(); ++row)
    errors.push_back({published.text(row, "model"), published.text(row, "what"),
                      published.number(row, "mean_percent"),
                      published.has(row, "max_percent") ? published.number(row, "max_percent") : -1});
  return errors;
}

}  // namespace tpc::bench
