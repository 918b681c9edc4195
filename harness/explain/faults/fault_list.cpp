// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/faults/fault_list.hpp"

#include "harness/values/join.hpp"
#include "reference/faulty/fault.hpp"

namespace tpc {

namespace {

std::string places(const FaultRow& row) {
  std::vector<std::string> words;
  for (const Operation operation : row.operations) words.emplace_back(name(operation));
  for (const CollectiveKind kind : row.collectives) words.emplace_back(name(kind));
  return joined(words, ", ");
}

std::string needs(const FaultRow& row) {
  std::vector<std::string> words;
  for (const Condition condition : row.needs) words.emplace_back(name(condition));
  return words.empty() ? "" : "; needs " + joined(words, ", ");
}

}  // namespace

std::string fault_list() {
  std::string text;
  for (const FaultRow& row : fault_table()) {
    const std::string also = row.also.empty() ? "" : fmt::format(" (also {})", row.also);
    text += fmt::format("{:<9} {:<7} {}{}\n", row.id, name(row.fault_class), row.title, also);
    text += fmt::format("{:18}in {}{}\n{:18}{}\n", "", places(row), needs(row), "", row.source);
  }
  text += fmt::format("{} faults. Not planted:\n", fault_table().size());
  for (const NotPlanted& row : faults_not_planted()) text += fmt::format("{:<9} {}\n", row.id, row.reason);
  return text;
}

}  // namespace tpc
