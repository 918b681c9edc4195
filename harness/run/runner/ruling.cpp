// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/ruling.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace tpc {

namespace {

using How = RankReport::How;

Ruling ruling_of(Outcome verdict, std::string message = "") {
  Ruling ruling;
  ruling.verdict = verdict;
  ruling.message = std::move(message);
  return ruling;
}

CallReports calls_of(const RankReports& reports) {
  CallReports calls;
  for (const auto& report : reports)
    calls.push_back(report ? std::optional<CallReport>(report->calls) : std::nullopt);
  return calls;
}

bool any(const RankReports& reports, How how) {
  return std::any_of(reports.begin(), reports.end(),
                     [how](const auto& report) { return report && report->how == how; });
}

// "rank 1: reason; rank 2: reason", of the ranks that came out this way.
std::string reasons(const RankReports& reports, How how) {
  std::string text;
  for (std::size_t r = 0; r < reports.size(); ++r)
    if (reports[r] && reports[r]->how == how)
      text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", r, reports[r]->reason);
  return text;
}

// As reasons, where all say the same: once.
std::string common_reason(const RankReports& reports, How how) {
  std::set<std::string> different;
  for (const auto& report : reports)
    if (report && report->how == how) different.insert(report->reason);
  return different.size() == 1 ? *different.begin() : reasons(reports, how);
}

std::string_view how_text(How how) {
  switch (how) {
    case How::result:
      return "a result";
    case How::refused:
      return "a refusal";
    case How::unsupported:
      return "unsupported";
    default:
      return "an error";
  }
}

Ruling stopped(int code, const std::string& reason, bool at_once = false) {
  Ruling ruling = ruling_of(Outcome::error, reason);
  ruling.broken = true;
  ruling.stop = Stop{code, reason, at_once};
  return ruling;
}

// What is said of a deadline: who did not come, and where everybody was last seen.
Ruling overdue(const RankReports& reports, bool ranks_missing, std::string_view doing) {
  const CallReports calls = calls_of(reports);
  const std::vector<int> absent = ranks_not_arrived(calls);
  const std::string who = absent.empty() ? "every rank made its calls, one is too slow"
                                         : fmt::format("did not arrive: {}", rank_list(absent));
  return stopped(
      5,
      fmt::format("the deadline passed {}; {}; last collective of {}", doing, who, last_collectives(calls)),
      ranks_missing);
}

// What keeps a case from being judged at all, the gravest first.
std::optional<Ruling> trouble(const RankReports& reports, std::string_view doing) {
  const bool ranks_missing =
      std::any_of(reports.begin(), reports.end(), [](const auto& report) { return !report; });
  if (ranks_missing || any(reports, How::deadline)) return overdue(reports, ranks_missing, doing);
  if (any(reports, How::usage)) return stopped(2, reasons(reports, How::usage));
  if (any(reports, How::environment))
    return stopped(3,
                   fmt::format("the environment failed {}; {}", doing, reasons(reports, How::environment)));
  for (const How how : {How::threw, How::abandoned}) {
    if (!any(reports, how)) continue;
    Ruling ruling =
        ruling_of(Outcome::error, fmt::format("{} {}; {}; last collective of {}",
                                              how == How::threw ? "an exception" : "ranks gave up", doing,
                                              reasons(reports, how), last_collectives(calls_of(reports))));
    ruling.broken = true;
    return ruling;
  }
  return std::nullopt;
}

constexpr std::string_view refused_late = "refused only after";
constexpr std::string_view refused_at_length = "refused in more than one line";
constexpr std::string_view refused_vaguely = "refused without naming";

Ruling rule_on_refusals(const Case& c, const RankReports& reports) {
  if (c.expectation == Expectation::answers)
    return ruling_of(Outcome::fail, "refused what can be done; " + reasons(reports, How::refused));
  for (std::size_t r = 0; r < reports.size(); ++r) {
    if (reports[r]->how != How::refused) continue;
    const std::string& reason = reports[r]->reason;
    if (reports[r]->calls.collectives > 0)
      return ruling_of(Outcome::fail, fmt::format("rank {} {} {} collectives: {}", r, refused_late,
                                                  reports[r]->calls.collectives, reason));
    if (reason.find('\n') != std::string::npos)
      return ruling_of(Outcome::fail, fmt::format("rank {} {}: {}", r, refused_at_length, reason));
    for (const std::string& word : c.reason_words)
      if (reason.find(word) == std::string::npos)
        return ruling_of(Outcome::fail, fmt::format("rank {} {} '{}': {}", r, refused_vaguely, word, reason));
  }
  return ruling_of(Outcome::pass);
}

}  // namespace

bool tells_of_refusal(const std::string& message) {
  const std::array texts = {refused_late, refused_at_length, refused_vaguely};
  return std::any_of(texts.begin(), texts.end(),
                     [&](std::string_view text) { return message.find(text) != std::string::npos; });
}

RankReport::How how_of(Response::Status status) {
  switch (status) {
    case Response::Status::result:
      return How::result;
    case Response::Status::refused:
      return How::refused;
    case Response::Status::unsupported:
      return How::unsupported;
    case Response::Status::error:
      break;
  }
  return How::error;
}

Ruling rule_on_responses(const Case& c, const RankReports& reports) {
  if (auto ruling = trouble(reports, "in the case")) return *ruling;
  if (any(reports, How::error)) return ruling_of(Outcome::error, reasons(reports, How::error));
  std::string statuses;
  std::optional<How> common;
  bool agreed = true;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    const How how = reports[r]->how;
    if (how == How::idle) continue;
    agreed = agreed && (!common || *common == how);
    common = how;
    statuses += fmt::format("{}rank {} {}", statuses.empty() ? "" : ", ", r, how_text(how));
    if (!reports[r]->reason.empty()) statuses += fmt::format(" ({})", reports[r]->reason);
  }
  if (!agreed) return ruling_of(Outcome::error, "ranks disagree: " + statuses);
  if (const std::string unequal = unequal_calls(calls_of(reports)); !unequal.empty()) {
    Ruling ruling = ruling_of(Outcome::error, fmt::format("{}; last collective of {}", unequal,
                                                          last_collectives(calls_of(reports))));
    ruling.broken = true;
    return ruling;
  }
  if (common == How::unsupported)
    return ruling_of(Outcome::unsupported, common_reason(reports, How::unsupported));
  if (common == How::refused) return rule_on_refusals(c, reports);
  Ruling ruling;
  ruling.go_on = true;
  return ruling;
}

Ruling rule_on_preparation(const RankReports& reports) {
  if (auto ruling = trouble(reports, "while the baseline was prepared")) {
    // Without its baseline nothing that follows can be judged.
    if (!ruling->stop) ruling->stop = Stop{5, ruling->message};
    return *ruling;
  }
  Ruling ruling;
  ruling.go_on = true;
  return ruling;
}

Ruling rule_on_comparison(const Case& c, const RankReports& reports) {
  if (auto ruling = trouble(reports, "in the comparison")) return *ruling;
  const Comparison* worst = nullptr;
  double ratio = 0;
  for (const auto& report : reports) {
    if (report->how != How::judged) continue;
    if (worst == nullptr || report->comparison.verdict > worst->verdict) worst = &report->comparison;
    ratio = worse_ratio(ratio, report->comparison.worst_ratio);
  }
  TPC_EXPECT(worst != nullptr, "{}: nobody compared", full_name(c));
  constexpr Outcome outcomes[] = {Outcome::pass, Outcome::fail, Outcome::unsupported, Outcome::error};
  Ruling ruling = ruling_of(outcomes[static_cast<std::size_t>(worst->verdict)], worst->message);
  ruling.worst_ratio = ratio;
  ruling.note = worst->note;
  ruling.tests = worst->tests;
  if (c.expectation == Expectation::refusal && ruling.verdict == Outcome::fail)
    ruling.message = "neither refused nor answered rightly; " + ruling.message;
  return ruling;
}

}  // namespace tpc
