// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/expectations.hpp"

#include <fmt/chrono.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "reference/core/contract.hpp"

namespace tpc {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& json, const char* field, const std::string& of) {
  if (!json.is_object() || !json.contains(field) || !json[field].is_string() ||
      json[field].get<std::string>().empty())
    throw UsageError(fmt::format("{} lacks the text '{}'", of, field));
  return json[field].get<std::string>();
}

std::vector<std::string> texts_of(const Json& json, const char* field, const std::string& of) {
  std::vector<std::string> texts;
  if (!json.contains(field) || !json[field].is_array())
    throw UsageError(fmt::format("{} lacks the list '{}'", of, field));
  for (const Json& item : json[field]) {
    if (!item.is_string()) throw UsageError(fmt::format("{}: '{}' holds what is no text", of, field));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool is_day(const std::string& text) {
  return ::fnmatch("20[0-9][0-9]-[01][0-9]-[0-3][0-9]", text.c_str(), 0) == 0;
}

Waiver waiver_of(const Json& json) {
  Waiver waiver;
  waiver.id = text_of(json, "id", "a waiver");
  const std::string of = "waiver " + waiver.id;
  waiver.cases = texts_of(json, "cases", of);
  waiver.words = json.contains("words") && json["words"].is_array()
                     ? texts_of(json, "words", of)
                     : std::vector<std::string>{text_of(json, "words", of)};
  waiver.reason = text_of(json, "reason", of);
  waiver.link = text_of(json, "link", of);
  waiver.expires = text_of(json, "expires", of);
  if (waiver.cases.empty()) throw UsageError(of + " is about no case");
  if (waiver.words.empty()) throw UsageError(of + " bears any failure: 'words' is empty");
  if (!waiver.link.starts_with("https://")) throw UsageError(of + ": 'link' is no https:// address");
  if (!is_day(waiver.expires)) throw UsageError(of + ": 'expires' is no day as 2027-06-30");
  return waiver;
}

bool matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

// The pieces between the *, one after the other. No fnmatch: messages are full of brackets.
bool holds(const std::string& message, const std::string& words) {
  std::size_t at = 0;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find('*', begin), words.size());
    const std::string piece = words.substr(begin, end - begin);
    at = message.find(piece, at);
    if (at == std::string::npos) return false;
    at += piece.size();
    begin = end + 1;
  }
  return true;
}

bool says(const std::string& message, const std::vector<std::string>& any_of) {
  return std::any_of(any_of.begin(), any_of.end(),
                     [&](const std::string& words) { return holds(message, words); });
}

bool went_wrong(const Record& record) {
  return record.verdict == Outcome::fail || record.verdict == Outcome::error;
}

// Patterns that name nothing are mistakes, or outlived their case.
void check_patterns(const std::vector<std::string>& patterns, const std::string& of, const Judged& judged,
                    ExpectationFindings& findings) {
  for (const std::string& pattern : patterns)
    if (std::none_of(judged.cases.begin(), judged.cases.end(),
                     [&](const std::string& name) { return matches({pattern}, name); }))
      findings.violations.push_back(fmt::format("{}: '{}' names no case", of, pattern));
}

using NamesByWaiver = std::map<std::string, std::vector<std::string>>;

std::string first_of(const std::vector<std::string>& names) {
  return names.front() + (names.size() > 1 ? " and others" : "");
}

void hold_failure(const Expectations& expectations, const Record& record, const std::string& day,
                  NamesByWaiver& explained, ExpectationFindings& findings) {
  for (const Waiver& waiver : expectations.waivers) {
    if (!matches(waiver.cases, record.case_name) || !says(record.message, waiver.words)) continue;
    if (day > waiver.expires) {
      findings.violations.push_back(
          fmt::format("{}: waiver {} expired on {}", record.case_name, waiver.id, waiver.expires));
    } else {
      ++findings.waived;
      explained[waiver.id].push_back(record.case_name);
    }
    return;
  }
  findings.violations.push_back(
      fmt::format("{}: {}, and no waiver explains it", record.case_name, name(record.verdict)));
}

}  // namespace

Expectations read_expectations(const std::filesystem::path& file) {
  std::ifstream in(file);
  const Json json = Json::parse(in, nullptr, false);
  try {
    if (!json.is_object()) throw UsageError("it is no JSON object, or not there");
    Expectations expectations{text_of(json, "implementation", "it"), texts_of(json, "must_pass", "it"), {}};
    if (!json.contains("waivers") || !json["waivers"].is_array())
      throw UsageError("it lacks the list 'waivers'");
    std::set<std::string> ids;
    for (const Json& item : json["waivers"]) {
      expectations.waivers.push_back(waiver_of(item));
      if (!ids.insert(expectations.waivers.back().id).second)
        throw UsageError(fmt::format("two waivers are called {}", expectations.waivers.back().id));
    }
    return expectations;
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--expectations {}: {}", file.string(), error.what()));
  }
}

ExpectationFindings hold(const Expectations& expectations, const Judged& judged) {
  ExpectationFindings findings;
  if (!judged.implementation.starts_with(expectations.implementation))
    findings.violations.push_back(fmt::format("these are expectations of '{}', and '{}' was judged",
                                              expectations.implementation, judged.implementation));
  check_patterns(expectations.must_pass, "must_pass", judged, findings);
  for (const Waiver& waiver : expectations.waivers)
    check_patterns(waiver.cases, "waiver " + waiver.id, judged, findings);
  NamesByWaiver explained;
  NamesByWaiver passes;
  for (const Record& record : judged.records) {
    if (record.verdict == Outcome::not_run) continue;
    if (went_wrong(record)) {
      hold_failure(expectations, record, judged.today, explained, findings);
      continue;
    }
    if (record.verdict == Outcome::unsupported && matches(expectations.must_pass, record.case_name))
      findings.violations.push_back(fmt::format("{}: must pass, and is unsupported", record.case_name));
    for (const Waiver& waiver : expectations.waivers)
      if (record.verdict == Outcome::pass && matches(waiver.cases, record.case_name))
        passes[waiver.id].push_back(record.case_name);
  }
  for (const auto& [id, names] : explained)
    findings.remarks.push_back(fmt::format("waiver {} explains {} failure{}: {}", id, names.size(),
                                           names.size() > 1 ? "s" : "", first_of(names)));
  for (const auto& [id, names] : passes)
    findings.remarks.push_back(fmt::format("unexpected pass{}: {}, of waiver {}",
                                           names.size() > 1 ? "es" : "", first_of(names), id));
  return findings;
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace tpc
