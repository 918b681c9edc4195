// SPDX-License-Identifier: Apache-2.0
#include "bench/published/check.hpp"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "reference/core/contract.hpp"

namespace tpc::bench {

bool Check::holds() const {
  // A tie may have been printed either way.
  const double slack = 1e-9 * std::abs(published);
  switch (gate) {
    case Gate::exact:
    case Gate::band:
      return std::abs(ours - published) <= tolerance + slack;
    case Gate::at_most:
      return ours <= published;
    case Gate::info:
      return true;
  }
  return false;
}

Check exact(const std::string& table, const std::string& what, const std::string& unit, double ours,
            const Figure& published) {
  return {table, what, unit, ours, published.value, Gate::exact, published.half_unit};
}

Check in_band(const std::string& table, const std::string& what, const std::string& unit, double ours,
              const Figure& published, double tolerance) {
  return {table, what, unit, ours, published.value, Gate::band, tolerance};
}

Check error_at_most(const std::string& table, const std::string& what, double ours_percent,
                    double limit_percent) {
  return {table, what, "%", ours_percent, limit_percent, Gate::at_most, 0};
}

Checks check_all(const Tables& tables) {
  Checks all;
  for (const auto& part : {check_activations(tables), check_iterations(tables), check_collectives(tables),
                           check_document(tables), check_overlap(tables)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

namespace {

std::string row_of(const Check& check) {
  return fmt::format("  {} {:<6} {:<58} ours {:>12.6g}  published {:>10.6g} {}\n",
                     check.holds() ? "  " : "✗ ", name(check.gate), check.what, check.ours, check.published,
                     check.unit);
}

}  // namespace

std::string validation_report(const Checks& checks, const std::vector<ModelError>& errors, bool every_row) {
  std::map<std::string, std::string> rows;
  std::map<std::string, std::pair<int, int>> counts;  // rows, and those that do not hold
  for (const Check& check : checks) {
    auto& [all, broken] = counts[check.table];
    ++all;
    broken += check.holds() ? 0 : 1;
    if (every_row || !check.holds()) rows[check.table] += row_of(check);
  }
  std::string report = "Published figures, reproduced\n";
  for (const auto& [table, count] : counts)
    report += fmt::format("{} {:<22} {} of {} rows hold\n{}", count.second == 0 ? "✓" : "✗", table,
                          count.first - count.second, count.first, rows[table]);
  report += "\nErrors of models, percent (mean, worst)\n";
  for (const ModelError& error : errors)
    report +=
        fmt::format("  {:<12} {:<58} {:>6.2f} {}\n", error.model, error.what, error.mean_percent,
                    error.max_percent < 0 ? std::string("-") : fmt::format("{:.2f}", error.max_percent));
  return report;
}

}  // namespace tpc::bench
