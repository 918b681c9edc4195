// SPDX-License-Identifier: Apache-2.0
#include "bench/cost_model/formulas.hpp"
#include "bench/published/check.hpp"

namespace tpc::bench {

Checks check_overlap(const Tables& tables) {
  Checks checks;
  const Table& table = tables.at("overlap");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double separate = table.number(row, "separate_ms");
    const double overlapped = table.number(row, "overlapped_ms");
    const double product = table.number(row, "best_product_ms");
    const auto check = [&](const std::string& column, const std::string& unit, double ours) {
      checks.push_back(exact(table.name(), table.text(row, "what") + ", " + column, unit, ours,
                             table.figure(row, column)));
    };
    check("communication_separate_ms", "ms", separate - product);
    check("communication_overlapped_ms", "ms", overlapped - product);
    check("efficiency_percent", "%", 100 * overlap_efficiency(separate, overlapped, product, product));
  }
  return checks;
}

}  // namespace tpc::bench
