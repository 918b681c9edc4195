// SPDX-License-Identifier: Apache-2.0
#include "harness/front/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/explain/configuration/configuration.hpp"
#include "harness/run/runner/runner.hpp"

namespace tpc {

namespace {

constexpr int tp_degrees[] = {1, 2, 3, 4, 6, 8};

struct Cell {
  std::string_view operation;
  int tp;
  std::string_view mode;
  std::string_view tier;
  friend bool operator<(const Cell& a, const Cell& b) {
    return std::tie(a.operation, a.tp, a.mode, a.tier) < std::tie(b.operation, b.tp, b.mode, b.tier);
  }
};

std::map<Cell, int> cases_by_cell(const std::vector<Suite>& suites) {
  std::map<Cell, int> counts;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases)
      if (c.expectation == Expectation::answers && c.request.problem.is_operation())
        ++counts[{name(c.request.problem.operation()), ranks_of(c),
                  name(c.request.sharding.sequence_parallel), name(c.tier)}];
  return counts;
}

// What the suites promise, whether they have a case of it or not: operations of free sizes, in every way.
// Training is judged in one tier alone.
std::vector<Cell> all_cells() {
  std::vector<Cell> cells;
  for (const Operation operation : configurable_operations())
    for (const SequenceParallel mode : every<SequenceParallel>())
      for (const Tier tier : every<Tier>())
        for (const int tp : tp_degrees)
          if (operation != Operation::train && tier != Tier::statistics)
            cells.push_back({name(operation), tp, name(mode), name(tier)});
  return cells;
}

// An empty text, and T 0, stand for any.
bool covers(const Impossible& impossible, const Cell& cell) {
  const auto fits = [](const std::string& wanted, std::string_view text) {
    return wanted.empty() || wanted == text;
  };
  return fits(impossible.operation, cell.operation) && fits(impossible.sequence_parallel, cell.mode) &&
         fits(impossible.tier, cell.tier) && (impossible.tp == 0 || impossible.tp == cell.tp);
}

std::string reason_for(const std::vector<Suite>& suites, const Cell& cell) {
  for (const Suite& suite : suites)
    for (const Impossible& impossible : suite.impossible)
      if (covers(impossible, cell)) return impossible.reason;
  return {};
}

// Reasons stand below the table, a letter each: a, b, ..., z, aa, ab, ...
class Footnotes {
 public:
  std::string mark(const std::string& reason) {
    const auto found = std::find(reasons_.begin(), reasons_.end(), reason);
    const auto index = static_cast<std::size_t>(found - reasons_.begin());
    if (found == reasons_.end()) reasons_.push_back(reason);
    return letters(index);
  }
  std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < reasons_.size(); ++i)
      lines += fmt::format("  {}: {}\n", letters(i), reasons_[i]);
    return lines;
  }

 private:
  static std::string letters(std::size_t index) {
    const std::string last(1, static_cast<char>('a' + index % 26));
    return index < 26 ? last : letters(index / 26 - 1) + last;
  }
  std::vector<std::string> reasons_;
};

std::string operation_table(const std::vector<Suite>& suites) {
  const auto counts = cases_by_cell(suites);
  Footnotes footnotes;
  std::string text = fmt::format("{:<22}{:<12}{:<7}", "operation", "sequence", "tier");
  for (const int tp : tp_degrees) text += fmt::format("{:>6}", fmt::format("T={}", tp));
  for (const Cell& cell : all_cells()) {
    if (cell.tp == tp_degrees[0])
      text += fmt::format("\n{:<22}{:<12}{:<7}", cell.operation, cell.mode, cell.tier);
    const auto found = counts.find(cell);
    if (found != counts.end()) {
      text += fmt::format("{:>6}", found->second);
      continue;
    }
    const std::string reason = reason_for(suites, cell);
    text += fmt::format("{:>6}", reason.empty() ? "EMPTY" : footnotes.mark(reason));
  }
  return text + "\n\nWhy cells have no case:\n" + footnotes.text();
}

std::string suite_table(const std::vector<Suite>& suites) {
  std::set<int> sizes;
  std::map<std::string, std::map<int, int>> counts;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases) {
      sizes.insert(ranks_of(c));
      ++counts[suite.name][ranks_of(c)];
    }
  std::string text = fmt::format("\n{:<22}{:>6}", "suite", "cases");
  for (const int ranks : sizes) text += fmt::format("{:>6}", fmt::format("R={}", ranks));
  text += "   (R: ranks that the case needs)\n";
  for (const Suite& suite : suites) {
    text += fmt::format("{:<22}{:>6}", suite.name, suite.cases.size());
    for (const int ranks : sizes) text += fmt::format("{:>6}", counts[suite.name][ranks]);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string coverage_table(const std::vector<Suite>& suites) {
  return operation_table(suites) + suite_table(suites);
}

std::vector<std::string> empty_cells(const std::vector<Suite>& suites) {
  const auto counts = cases_by_cell(suites);
  std::vector<std::string> empty;
  for (const Cell& cell : all_cells())
    if (!counts.contains(cell) && reason_for(suites, cell).empty())
      empty.push_back(fmt::format("{} at T={}, sequence parallel {}, tier {}", cell.operation, cell.tp,
                                  cell.mode, cell.tier));
  return empty;
}

}  // namespace tpc
