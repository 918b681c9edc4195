// SPDX-License-Identifier: Apache-2.0
#include "harness/front/renderings/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tpc {

namespace {

// Length of the well-formed UTF-8 sequence at the start, 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  return length;
}

// XML 1.0 has no way to write most control characters; they, and bytes that are no UTF-8, become "?".
std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20;
    if (length == 0 || (control && c != '\n' && c != '\t'))
      out += '?';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n')
      out += "&#10;";
    else
      out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string case_body(const Record& record) {
  const std::string message = xml_escaped(record.message);
  switch (record.verdict) {
    case Outcome::pass:
      return "";
    case Outcome::fail:
      return fmt::format("<failure message=\"{}\">{}</failure>", message, xml_escaped(record.replay));
    case Outcome::error:
      return fmt::format("<error message=\"{}\">{}</error>", message, xml_escaped(record.replay));
    case Outcome::unsupported:
    case Outcome::not_run:
      break;
  }
  return fmt::format("<skipped message=\"{}: {}\"/>", name(record.verdict), message);
}

struct SuiteRecords {
  std::string name;
  std::vector<const Record*> records;
  double seconds = 0;
  Tally tally;
};

std::vector<SuiteRecords> by_suite(const std::vector<Record>& records) {
  std::vector<SuiteRecords> suites;
  for (const Record& record : records) {
    auto found = std::find_if(suites.begin(), suites.end(),
                              [&](const SuiteRecords& suite) { return suite.name == record.suite; });
    if (found == suites.end()) found = suites.insert(suites.end(), SuiteRecords{record.suite, {}, 0, {}});
    found->records.push_back(&record);
    found->seconds += record.seconds;
    count(found->tally, record.verdict);
  }
  return suites;
}

std::string attributes(const std::string& name, const Tally& tally, double seconds) {
  return fmt::format(R"(name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.6f}")",
                     xml_escaped(name), tally.all(), tally.failed, tally.errors,
                     tally.unsupported + tally.not_run, seconds);
}

}  // namespace

std::string junit_xml(const Provenance& provenance, const std::vector<Record>& records) {
  std::string body;
  auto out = std::back_inserter(body);
  double seconds = 0;
  for (const SuiteRecords& suite : by_suite(records)) {
    seconds += suite.seconds;
    fmt::format_to(out, "  <testsuite {} timestamp=\"{}\" hostname=\"{}\">\n",
                   attributes(suite.name, suite.tally, suite.seconds), xml_escaped(provenance.started),
                   xml_escaped(provenance.host));
    for (const Record* record : suite.records)
      fmt::format_to(out, "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\">{}</testcase>\n",
                     xml_escaped(record->suite),
                     xml_escaped(std::string_view(record->case_name).substr(record->suite.size() + 1)),
                     record->seconds, case_body(*record));
    body += "  </testsuite>\n";
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n{}</testsuites>\n",
                     attributes("tp_conformance", tally_of(records), seconds), body);
}

}  // namespace tpc
