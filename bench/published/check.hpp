// SPDX-License-Identifier: Apache-2.0
// Our formulas and models against published figures.
#pragma once

#include <string>
#include <vector>

#include "bench/published/table.hpp"
#include "reference/core/words.hpp"

namespace tpc::bench {

enum class Gate {
  exact,    // agrees with every printed digit
  band,     // differs by at most `tolerance`
  at_most,  // an error of ours, not above `published`
  info      // for the eye
};
constexpr auto words(Gate) { return spelling("exact", "band", "limit", "info"); }

struct Check {
  std::string table;
  std::string what;
  std::string unit;
  double ours = 0;
  double published = 0;
  Gate gate = Gate::exact;
  double tolerance = 0;  // half a unit of the last printed digit where exact
  bool holds() const;
};

Check exact(const std::string& table, const std::string& what, const std::string& unit, double ours,
            const Figure& published);
Check in_band(const std::string& table, const std::string& what, const std::string& unit, double ours,
              const Figure& published, double tolerance);
Check error_at_most(const std::string& table, const std::string& what, double ours_percent,
                    double limit_percent);

using Checks = std::vector<Check>;

// By subject. Each throws UsageError where a table or a column is missing.
Checks check_activations(const Tables& tables);
Checks check_iterations(const Tables& tables);   // table 4 and 5 of Korthikanti, scaling tables
Checks check_collectives(const Tables& tables);  // fits, columns, the switch
Checks check_document(const Tables& tables);     // payloads and the example by link
Checks check_overlap(const Tables& tables);
Checks check_all(const Tables& tables);

// Errors of our models next to those that others published of theirs, percent.
struct ModelError {
  std::string model;
  std::string what;
  double mean_percent = 0;
  double max_percent = -1;  // below 0: not published
};
std::vector<ModelError> model_errors(const Tables& tables);

// A few lines per table, every row that does not hold, and the models' errors.
std::string validation_report(const Checks& checks, const std::vector<ModelError>& errors, bool every_row);

}  // namespace tpc::bench
