// SPDX-License-Identifier: Apache-2.0
#include "harness/front/renderings/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "harness/front/renderings/volume_report.hpp"
#include "harness/values/join.hpp"
#include "reference/random/mask_statistics.hpp"

namespace tpc {

namespace {

struct SuiteLine {
  std::string name;
  Tally tally;
  std::map<std::string, double> ratios;  // largest, by tier
};

std::vector<SuiteLine> suite_lines(const std::vector<Record>& records) {
  std::vector<SuiteLine> lines;
  for (const Record& record : records) {
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const SuiteLine& candidate) { return candidate.name == record.suite; });
    if (line == lines.end()) line = lines.insert(lines.end(), {record.suite, {}, {}});
    count(line->tally, record.verdict);
    if (!record.worst_ratio) continue;
    double& largest = line->ratios.try_emplace(record.tier, 0).first->second;
    largest = worse_ratio(largest, *record.worst_ratio);
  }
  return lines;
}

std::string ratio_text(const SuiteLine& line, const std::string& tier) {
  const auto found = line.ratios.find(tier);
  return found == line.ratios.end() ? "-" : fmt::format("{:.3g}", found->second);
}

std::vector<std::string> tiers_of(const std::vector<SuiteLine>& lines) {
  std::vector<std::string> tiers;
  for (const char* tier : {"exact", "f64", "f32", "bf16", "statistics"})
    if (std::any_of(lines.begin(), lines.end(),
                    [&](const SuiteLine& line) { return line.ratios.contains(tier); }))
      tiers.emplace_back(tier);
  return tiers;
}

std::string table(const std::vector<Record>& records) {
  const std::vector<SuiteLine> lines = suite_lines(records);
  const std::vector<std::string> tiers = tiers_of(lines);
  std::string text = fmt::format("{:<20}{:>8}{:>8}{:>8}{:>13}{:>9}", "suite", "passed", "failed", "errors",
                                 "unsupported", "not run");
  if (!tiers.empty()) text += "   largest ratio in " + joined(tiers, ", ");
  text += '\n';
  for (const SuiteLine& line : lines) {
    const Tally& tally = line.tally;
    text += fmt::format("{:<20}{:>8}{:>8}{:>8}{:>13}{:>9}", line.name, tally.passed, tally.failed,
                        tally.errors, tally.unsupported, tally.not_run);
    std::vector<std::string> ratios;
    ratios.reserve(tiers.size());
    for (const std::string& tier : tiers) ratios.push_back(ratio_text(line, tier));
    text += (ratios.empty() ? "" : "   ") + joined(ratios, "  ") + '\n';
  }
  return text;
}

std::string reasons(const std::vector<Record>& records, Outcome verdict, std::string_view title) {
  std::vector<std::pair<std::string, int>> grouped;
  for (const Record& record : records) {
    if (record.verdict != verdict) continue;
    auto found = std::find_if(grouped.begin(), grouped.end(),
                              [&](const auto& group) { return group.first == record.message; });
    if (found == grouped.end()) found = grouped.insert(grouped.end(), {record.message, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [reason, cases] : grouped) text += fmt::format("{}: {:>5}  {}\n", title, cases, reason);
  return text;
}

std::string failures(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records)
    if (record.verdict == Outcome::fail || record.verdict == Outcome::error)
      text += fmt::format("{}: {}\n  {}\n", record.verdict == Outcome::fail ? "failed" : "error",
                          record.case_name, record.replay);
  return text;
}

// Statistics accept to be wrong once in a while: how often is said. A few cases tell all that they measured.
std::string statistics(const std::vector<Record>& records) {
  constexpr int few = 8;
  std::int64_t tests = 0;
  int cases = 0;
  std::string notes;
  for (const Record& record : records) {
    tests += record.tests;
    if (record.note.empty()) continue;
    ++cases;
    notes += fmt::format("{}: {}\n", record.case_name, record.note);
  }
  std::string text = cases <= few ? notes : "";
  if (tests > 0)
    text += fmt::format("{} tests of statistics; false alarms expected: {:.1e}\n", tests,
                        expected_false_alarms(static_cast<double>(tests)));
  return text;
}

std::string count_of(int number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

std::string report(const Provenance& provenance, const std::vector<Record>& records, double seconds) {
  std::string text = volume_report(records) + table(records);
  text += statistics(records);
  text += reasons(records, Outcome::not_run, "not run");
  text += reasons(records, Outcome::unsupported, "unsupported");
  text += failures(records);
  text += fmt::format("{} in {:.1f} s on {}, {} of {}", count_of(static_cast<int>(records.size()), "case"),
                      seconds, count_of(provenance.ranks, "rank"), count_of(provenance.cores, "core"),
                      provenance.host);
  if (provenance.ranks > provenance.cores) text += ": oversubscribed, so the time is no measure of speed";
  return text + '\n';
}

std::string version_text(const Provenance& provenance) {
  return fmt::format("tp_conformance {} ({}{})\n{}, {}, {}\n", provenance.version, provenance.commit,
                     provenance.dirty ? ", with changes" : "", provenance.compiler, provenance.blas,
                     provenance.onednn);
}

std::string failure_text(const Record& record) {
  std::string text = record.message + '\n';
  for (const std::string& part : {record.diagnosis, record.smallest})
    if (!part.empty()) text += part + '\n';
  return text + fmt::format("run it alone: {}", record.replay);
}

}  // namespace tpc
