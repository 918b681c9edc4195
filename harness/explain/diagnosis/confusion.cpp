// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/diagnosis/confusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/values/join.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool rejects(const Record& record) {
  return record.verdict == Outcome::fail || record.verdict == Outcome::error;
}

// Those that can show all of the faults first: there the pair is hardest to tell from one of them.
std::vector<const Case*> cases_of_all(const std::vector<const FaultRow*>& faults,
                                      const std::vector<Suite>& suites, int ranks) {
  std::vector<const Case*> cases = cases_for(*faults[0], suites, ranks);
  for (std::size_t i = 1; i < faults.size(); ++i) {
    const std::vector<const Case*> others = cases_for(*faults[i], suites, ranks);
    std::stable_partition(cases.begin(), cases.end(), [&](const Case* c) {
      return std::find(others.begin(), others.end(), c) != others.end();
    });
    for (const Case* c : others)
      if (std::find(cases.begin(), cases.end(), c) == cases.end()) cases.push_back(c);
  }
  return cases;
}

bool is_single(const ConfusionRow& row) { return row.planted.size() == 1; }

int number_of(const std::vector<ConfusionRow>& rows, bool single, bool (ConfusionRow::*holds)() const) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [&](const ConfusionRow& row) {
    return is_single(row) == single && (row.*holds)();
  }));
}

int number_of(const std::vector<ConfusionRow>& rows, bool single) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                        [&](const ConfusionRow& row) { return is_single(row) == single; }));
}

std::string outcome(const ConfusionRow& row) {
  if (!row.found()) return "no case failed";
  if (row.named.empty()) return is_single(row) ? "not named" : "nothing claimed";
  if (!row.right()) return "WRONG: " + joined(row.named, ", ");
  return row.named.size() == 1 ? row.named[0] : "one of " + joined(row.named, ", ");
}

}  // namespace

bool ConfusionRow::right() const {
  if (!found()) return false;
  if (planted.size() == 1) return contains(named, planted[0]);
  std::vector<std::string> right = planted;
  right.push_back(joined(planted, "+"));
  right.push_back(joined(std::vector<std::string>(planted.rbegin(), planted.rend()), "+"));
  return named.empty() ||
         std::any_of(right.begin(), right.end(), [&](const std::string& id) { return contains(named, id); });
}

ConfusionRow Confusion::diagnose(const std::vector<const FaultRow*>& faults) {
  ConfusionRow result;
  FaultSet planted;
  for (const FaultRow* row : faults) {
    result.planted.emplace_back(row->id);
    planted.plant(row->fault);
  }
  parts_.planted.plant(planted);
  for (const Case* c : cases_of_all(faults, parts_.suites, parts_.ranks)) {
    const Record record = parts_.runner.run(*c);
    if (!parts_.runner.resume()) break;
    if (!rejects(record)) continue;
    result.case_name = record.case_name;
    const Diagnosis diagnosis = parts_.investigation.diagnose(*c, record);
    result.named = certain_ids(diagnosis.candidates);
    result.message = record.message + "\ndiagnosis:\n" + to_text(diagnosis);
    break;
  }
  parts_.planted.plant({});
  return result;
}

std::vector<std::vector<const FaultRow*>> Confusion::random_pairs(
    const std::vector<const FaultRow*>& rows) const {
  std::vector<const FaultRow*> visible;
  for (const FaultRow* row : rows)
    if (row->equivalent.empty()) visible.push_back(row);
  const std::size_t possible = visible.size() * (visible.size() - 1) / 2;
  const std::size_t wanted = std::min(possible, static_cast<std::size_t>(choice_.pairs));
  std::set<std::pair<std::size_t, std::size_t>> chosen;
  std::vector<std::vector<const FaultRow*>> pairs;
  for (std::uint64_t i = 0; pairs.size() < wanted; ++i) {
    const auto words = philox(choice_.seed ^ hash_name("pairs of faults"), i, 0);
    const std::size_t one = words[0] % visible.size();
    const std::size_t other = words[1] % visible.size();
    if (one != other && chosen.insert(std::minmax(one, other)).second)
      pairs.push_back({visible[one], visible[other]});
  }
  return pairs;
}

std::vector<ConfusionRow> Confusion::run(const std::function<void(const ConfusionRow&)>& done) {
  const std::vector<const FaultRow*> rows = chosen_rows({choice_.filter, false});
  std::vector<std::vector<const FaultRow*>> sets;
  for (const FaultRow* row : rows)
    if (row->equivalent.empty()) sets.push_back({row});
  for (auto& pair : random_pairs(rows)) sets.push_back(std::move(pair));
  std::vector<const Case*> order;  // what is likely to be asked, so that baselines are made ahead
  for (const auto& set : sets) {
    const std::vector<const Case*> cases = cases_of_all(set, parts_.suites, parts_.ranks);
    if (!cases.empty() && std::find(order.begin(), order.end(), cases[0]) == order.end())
      order.push_back(cases[0]);
  }
  parts_.runner.plan(std::move(order), true);
  std::vector<ConfusionRow> results;
  for (const auto& set : sets) {
    if (parts_.runner.stop()) break;
    results.push_back(diagnose(set));
    done(results.back());
  }
  return results;
}

std::string line_of(const ConfusionRow& row) {
  return fmt::format("{:<20} {:<60} {}", joined(row.planted, "+"),
                     row.found() ? row.case_name : std::string("-"), outcome(row));
}

std::string confusion_summary(const std::vector<ConfusionRow>& rows) {
  const int singles = number_of(rows, true);
  const int alone = static_cast<int>(std::count_if(rows.begin(), rows.end(), [](const ConfusionRow& row) {
    return is_single(row) && row.right() && row.named.size() == 1;
  }));
  return fmt::format(
      "{} of {} faults are named first, {} of them alone; of {} pairs {} fail, and {} are not blamed on a "
      "third "
      "fault.",
      number_of(rows, true, &ConfusionRow::right), singles, alone, number_of(rows, false),
      number_of(rows, false, &ConfusionRow::found), number_of(rows, false, &ConfusionRow::right));
}

std::string confusion_markdown(const Provenance& provenance, const std::vector<ConfusionRow>& rows) {
  std::string text =
      fmt::format("# Confusion list of the diagnosis\n\n{}, commit {}, {} ranks: `{}`.\n\n{}\n\n",
                  provenance.started.substr(0, 10), short_commit(provenance), provenance.ranks,
                  provenance.command, confusion_summary(rows));
  text +=
      "Faults that answer the same on a case are named together. Of a pair both may be named, nothing "
      "claimed, or one of\n"
      "the two where the other leaves the case as it is.\n\n| planted | first case that fails | named "
      "|\n|---|---|---|\n";
  for (const ConfusionRow& row : rows)
    text += fmt::format("| {} | `{}` | {} |\n", joined(row.planted, " + "), row.case_name, outcome(row));
  text += "\n## The messages\n";
  for (const ConfusionRow& row : rows)
    if (is_single(row) && row.found())
      text += fmt::format("\n### {}\n\n```text\n{}\n{}\n```\n", row.planted[0], row.case_name, row.message);
  return text;
}

int exit_code_of(const std::vector<ConfusionRow>& rows) {
  const int singles = number_of(rows, true);
  const bool enough = number_of(rows, true, &ConfusionRow::right) >= demanded_share * singles;
  const bool pairs_right = number_of(rows, false, &ConfusionRow::right) == number_of(rows, false);
  return singles > 0 && enough && pairs_right ? 0 : 1;
}

}  // namespace tpc
