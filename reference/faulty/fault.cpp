// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/fault.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "reference/faulty/table_parts.hpp"

namespace tpc {

namespace {

// "TP-9" stands before "TP-10": prefix, number, the rest.
std::tuple<std::string_view, int, std::string_view> order_of(std::string_view id) {
  const std::size_t dash = id.find('-');
  if (dash == std::string_view::npos) return {id, 0, {}};
  int number = 0;
  const char* const end = id.data() + id.size();
  const char* const rest = std::from_chars(id.data() + dash + 1, end, number).ptr;
  return {id.substr(0, dash), number, {rest, static_cast<std::size_t>(end - rest)}};
}

std::vector<FaultRow> sorted_table() {
  std::vector<FaultRow> all;
  for (const auto& page : {faults_of_gradients(), faults_of_the_vocabulary(), faults_of_weights(),
                           faults_of_random_numbers_and_steps(), faults_of_collectives()})
    all.insert(all.end(), page.begin(), page.end());
  std::sort(all.begin(), all.end(),
            [](const FaultRow& a, const FaultRow& b) { return order_of(a.id) < order_of(b.id); });
  return all;
}

Fault fault_named(std::string_view id) {
  for (const FaultRow& row : fault_table())
    if (row.id == id || (!row.also.empty() && row.also == id)) return row.fault;
  for (const NotPlanted& row : faults_not_planted())
    if (row.id == id)
      throw UsageError(fmt::format("fault {} is not planted: {}; see --list-faults", id, row.reason));
  throw UsageError(fmt::format("unknown fault '{}'; ids are as in TP-01, and --list-faults prints them", id));
}

}  // namespace

const std::vector<FaultRow>& fault_table() {
  static const std::vector<FaultRow> table = sorted_table();
  return table;
}

const FaultRow& row_of(Fault fault) {
  const auto& table = fault_table();
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const FaultRow& r) { return r.fault == fault; });
  TPC_EXPECT(row != table.end(), "fault {} has no row", static_cast<int>(fault));
  return *row;
}

std::vector<Fault> FaultSet::all() const {
  std::vector<Fault> faults;
  for (const FaultRow& row : fault_table())
    if (contains(row.fault)) faults.push_back(row.fault);
  return faults;
}

FaultSet faults_named(std::string_view ids) {
  FaultSet faults;
  for (;;) {
    const std::size_t plus = ids.find('+');
    faults.plant(fault_named(ids.substr(0, plus)));
    if (plus == std::string_view::npos) return faults;
    ids.remove_prefix(plus + 1);
  }
}

std::string names_of(const FaultSet& faults) {
  std::string text;
  for (const Fault fault : faults.all())
    text += fmt::format("{}{}", text.empty() ? "" : "+", row_of(fault).id);
  return text;
}

}  // namespace tpc
