// SPDX-License-Identifier: Apache-2.0
#include "bench/gate/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/report/units.hpp"

namespace tpc::bench {

namespace {

constexpr double smallest_claim = 0.05;
constexpr double smallest_moment = 1e-6;  // seconds: less is the clock's and the barrier's

bool is_gated(const Row& row) {
  return row.kind == "step" || row.kind == "outside_step" || row.kind == "collective" ||
         row.kind == "products_only" || row.kind == "compute_only";
}

// A planted fault does not make it another implementation.
std::string gate_key(Row row) {
  row.implementation = row.implementation.substr(0, row.implementation.find('+'));
  return key(row);
}

std::map<std::string, const Row*> by_key(const Results& results) {
  std::map<std::string, const Row*> rows;
  for (const Row& row : results.rows) rows[gate_key(row)] = &row;
  return rows;
}

// What the machine itself changed by, seen in a loop that uses no library: on as many ranks as the row.
double yardstick_change(const Results& baseline, const Results& now, int tp) {
  const auto yardstick = [tp](const Results& results) -> const Row* {
    for (const Row& row : results.rows)
      if (row.kind == "yardstick" && row.tp == tp) return &row;
    return nullptr;
  };
  const Row* before = yardstick(baseline);
  const Row* after = yardstick(now);
  if (before == nullptr || after == nullptr) return 0;
  return after->seconds.median / before->seconds.median - 1;
}

double figure_or_zero(const Row& row, const std::string& name) {
  const auto found = row.figures.find(name);
  return found == row.figures.end() ? 0 : found->second;
}

// The rank whose own work grew more than the others', if that explains at least half of what the row lost.
std::string slow_rank(const Row& before, const Row& now) {
  std::vector<double> growth;  // seconds
  for (int rank = 0; rank < now.tp; ++rank) {
    const std::string name = fmt::format("own_s_rank{}", rank);
    growth.push_back(figure_or_zero(now, name) - figure_or_zero(before, name));
  }
  if (growth.size() < 2) return "";
  const auto most = std::max_element(growth.begin(), growth.end());
  const auto rank = most - growth.begin();
  std::vector<double> others = growth;
  others.erase(others.begin() + rank);
  const double typical = median(others);
  if (*most - typical < (now.seconds.median - before.seconds.median) / 2) return "";
  return fmt::format("rank {} is the straggler: its own work takes {} more, the others' {}", rank,
                     seconds_text(*most), seconds_text(std::max(0.0, typical)));
}

std::string slow_part(const Row& before, const Row& now) {
  std::string part;
  double most = 0;
  for (const auto& [name, text] : {std::pair{"products_s", "products"},
                                   {"other_compute_s", "other kernels"},
                                   {"exposed_communication_s", "exposed communication"},
                                   {"launch_s", "launch and memory"}}) {
    const double growth = figure_or_zero(now, name) - figure_or_zero(before, name);
    if (growth <= most) continue;
    most = growth;
    part = fmt::format("{} grew by {}", text, seconds_text(growth));
  }
  return part;
}

std::string culprit_of(const Row& before, const Row& now) {
  if (now.kind == "collective")
    return fmt::format("{} of {}", now.op, bytes_text(static_cast<double>(now.payload_bytes)));
  if (now.kind != "step") return now.kind;
  const std::string rank = slow_rank(before, now);
  return rank.empty() ? slow_part(before, now) : rank;
}

// What equal things, alike apart from that, must move by until each now lies above each before: the upper
// part of the spread then and the lower part of the spread now. A disturbed launch now hides nothing by it.
double equal_band(const std::vector<double>& then, const std::vector<double>& now) {
  return *std::max_element(then.begin(), then.end()) / median(then) * median(now) /
             *std::min_element(now.begin(), now.end()) -
         1;
}

RowVerdict judge(const Row& before, const Row& now, double machine) {
  constexpr double margin = 1.5;  // a plant of twice the band is above it
  const std::vector<double> then = equal_medians(before);
  const std::vector<double> later = equal_medians(now);
  RowVerdict verdict;
  verdict.key = gate_key(now);
  verdict.tp = now.tp;
  verdict.before_s = before.seconds.median;
  verdict.now_s = now.seconds.median;
  verdict.smallest_effect =
      std::max({smallest_claim, smallest_moment / before.seconds.median, margin * equal_band(then, later)}) +
      std::max(0.0, machine);
  verdict.slower = verdict.change() > verdict.smallest_effect;
  if (!verdict.slower) return verdict;
  verdict.chance = chance_of_separation(then.size(), later.size());
  verdict.culprit = culprit_of(before, now);
  return verdict;
}

// How far the yardstick itself lay apart between equal things.
double disturbance(const Results& results) {
  double widest = 0;
  for (const Row& row : results.rows)
    if (row.kind == "yardstick") widest = std::max(widest, spread(equal_medians(row)));
  return widest;
}

std::vector<std::string> provenance_changes(const RunInfo& before, const RunInfo& now) {
  std::vector<std::string> changes;
  const auto note = [&](const char* what, const std::string& old_value, const std::string& new_value) {
    if (old_value != new_value) changes.push_back(fmt::format("{}: {} -> {}", what, old_value, new_value));
  };
  note("MPI", before.provenance.mpi, now.provenance.mpi);
  note("NCCL", before.nccl, now.nccl);
  note("driver", before.driver, now.driver);
  note("GPU", before.gpu, now.gpu);
  note("BLAS", before.provenance.blas, now.provenance.blas);
  note("oneDNN", before.provenance.onednn, now.provenance.onednn);
  note("compiler", before.provenance.compiler, now.provenance.compiler);
  note("kernel", before.kernel, now.kernel);
  note("processor", before.cpu, now.cpu);
  note("commit", short_commit(before.provenance), short_commit(now.provenance));
  note("implementation", before.provenance.implementation, now.provenance.implementation);
  std::map<std::string, std::string> variables = before.environment;
  variables.insert(now.environment.begin(), now.environment.end());
  for (const auto& [name, value] : variables) {
    const auto value_in = [&name = name](const RunInfo& run) {
      const auto found = run.environment.find(name);
      return found == run.environment.end() ? std::string("unset") : found->second;
    };
    note(name.c_str(), value_in(before), value_in(now));
  }
  return changes;
}

std::vector<std::string> fingerprint_changes(const Results& before, const Results& now) {
  std::vector<std::string> changes;
  for (const Fingerprint& print : now.fingerprints)
    for (const Fingerprint& earlier : before.fingerprints)
      if (print.what == earlier.what && print.bits != earlier.bits) changes.push_back(print.what);
  return changes;
}

}  // namespace

bool BaselineComparison::slower() const {
  return std::any_of(rows.begin(), rows.end(), [](const RowVerdict& row) { return row.slower; });
}

BaselineComparison compare(const Results& baseline, const Results& now) {
  BaselineComparison comparison;
  const auto earlier = by_key(baseline);
  const auto current = by_key(now);
  for (const auto& [name, row] : current) {
    if (!is_gated(*row)) continue;
    const auto found = earlier.find(name);
    if (found == earlier.end())
      comparison.not_compared.push_back(name + ": not in the baseline");
    else if (row->status != "ok" || found->second->status != "ok")
      comparison.not_compared.push_back(name + ": " +
                                        (row->status == "ok" ? "the baseline's is " + found->second->status
                                                             : row->status + ", " + row->reason));
    else
      comparison.rows.push_back(judge(*found->second, *row, yardstick_change(baseline, now, row->tp)));
  }
  for (const auto& [name, row] : earlier)
    if (is_gated(*row) && !current.contains(name))
      comparison.not_compared.push_back(name + ": only in the baseline");
  comparison.changed = provenance_changes(baseline.run, now.run);
  comparison.changed_fingerprints = fingerprint_changes(baseline, now);
  comparison.disturbance = std::max(disturbance(baseline), disturbance(now));
  for (const auto& [name, row] : current)
    if (row->kind == "yardstick")
      comparison.machine_change =
          std::max(comparison.machine_change, yardstick_change(baseline, now, row->tp));
  return comparison;
}

BaselineComparison confirmed(const BaselineComparison& first, const BaselineComparison& second) {
  BaselineComparison both = first;
  for (RowVerdict& row : both.rows) {
    const auto again = std::find_if(second.rows.begin(), second.rows.end(),
                                    [&](const RowVerdict& r) { return r.key == row.key; });
    if (again != second.rows.end()) row.slower = row.slower && again->slower;
  }
  return both;
}

std::string comparison_report(const BaselineComparison& comparison, const std::string& baseline_name) {
  std::string text = fmt::format("Compared with {}\n", baseline_name);
  for (const std::string& change : comparison.changed) text += "  changed: " + change + "\n";
  for (const std::string& print : comparison.changed_fingerprints)
    text += "  another order of summing (no failure): " + print + "\n";
  text += fmt::format("  the machine itself: {:+.1f} %\n", 100 * comparison.machine_change);
  constexpr double much = 0.1;
  if (comparison.disturbance > much)
    text += fmt::format(
        "  the machine was disturbed: a loop that uses no library took up to {:.0f} % longer at times; small "
        "changes "
        "cannot be seen\n",
        100 * comparison.disturbance);
  std::vector<double> sight;
  for (const RowVerdict& row : comparison.rows) {
    sight.push_back(row.smallest_effect);
    const char* verdict = row.slower ? "SLOWER" : row.change() < -row.smallest_effect ? "faster" : "equal";
    text +=
        fmt::format("  {:<6} {:+6.1f} % (could see {:.1f} %)  {} -> {}  {}\n", verdict, 100 * row.change(),
                    100 * row.smallest_effect, seconds_text(row.before_s), seconds_text(row.now_s), row.key);
    if (row.slower)
      text += fmt::format("         {}; every measurement now above each before: by chance {:.1g}\n",
                          row.culprit, row.chance);
  }
  for (const std::string& why : comparison.not_compared) text += "  not compared: " + why + "\n";
  const auto alarms = std::count_if(comparison.rows.begin(), comparison.rows.end(),
                                    [](const RowVerdict& row) { return row.slower; });
  if (sight.empty()) return text + "  nothing could be compared\n";
  return text + fmt::format(
                    "  {} of {} rows slower; half of the rows could have shown a change of {:.1f} %, all of "
                    "them {:.1f} %\n",
                    alarms, sight.size(), 100 * median(sight),
                    100 * *std::max_element(sight.begin(), sight.end()));
}

}  // namespace tpc::bench
