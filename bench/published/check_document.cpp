// SPDX-License-Identifier: Apache-2.0
#include "bench/published/check.hpp"
#include "bench/published/measured.hpp"

namespace tpc::bench {

namespace {

// The document's model: batch 8, sequence 2048, hidden 8192, 16 bits; 80 layers with four all_reduces each.
constexpr double one_payload = 8.0 * 2048 * 8192 * 2;
constexpr double calls = 80 * 4;

double step_s(const Tables& tables, const Table& table, std::size_t row, int ranks) {
  const std::string& basis = table.text(row, "basis");
  if (basis == "table")
    return calls * published_all_reduce_s(tables, table.text(row, "link"), ranks, one_payload);
  const Algorithm algorithm = basis == "document" ? Algorithm::payload : algorithm_named(basis);
  return wire_bytes(CollectiveKind::all_reduce, algorithm, ranks, calls * one_payload) /
         (table.number(row, "gb_per_s") * 1e9);
}

}  // namespace

Checks check_document(const Tables& tables) {
  Checks checks;
  const Table& table = tables.at("document_example");
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const int ranks : {2, 4, 8}) {
      const std::string column = fmt::format("tp{}", ranks);
      if (!table.has(row, column)) continue;
      const std::string what =
          fmt::format("{} ({}), T = {}", table.text(row, "link"), table.text(row, "basis"), ranks);
      checks.push_back(
          exact(table.name(), what, "s", step_s(tables, table, row, ranks), table.figure(row, column)));
    }
  return checks;
}

}  // namespace tpc::bench
