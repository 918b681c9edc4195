// SPDX-License-Identifier: Apache-2.0
#include "harness/explain/expectations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/values/machine/private_folder.hpp"
#include "reference/core/contract.hpp"

namespace tpc {
namespace {

Record record(const std::string& name, Outcome verdict, const std::string& message = "") {
  Record made;
  made.case_name = name;
  made.verdict = verdict;
  made.message = message;
  return made;
}

const Expectations expected{
    "torch 2.15", {"a.b/*"}, {{"T-1", {"a.c/*_f64"}, {"equal values"}, "why", "https://x", "2027-06-30"}}};
const std::vector<std::string> names = {"a.b/tp2", "a.c/tp2_f64", "a.c/tp2_f32"};

ExpectationFindings found(const std::vector<Record>& records, const Expectations& e = expected,
                          const std::string& day = "2027-06-30") {
  return hold(e, {"torch 2.15.0", names, records, day});
}

std::string only_violation(const ExpectationFindings& findings) {
  return findings.violations.size() == 1 ? findings.violations[0]
                                         : fmt::format("{} violations", findings.violations.size());
}

TEST(Expectations, ExplainedFailuresAreBorne) {
  const auto findings =
      found({record("a.b/tp2", Outcome::pass), record("a.c/tp2_f64", Outcome::fail, "no equal values")});
  EXPECT_TRUE(findings.violations.empty());
  EXPECT_EQ(findings.waived, 1);
  EXPECT_EQ(findings.remarks, std::vector<std::string>{"waiver T-1 explains 1 failure: a.c/tp2_f64"});
}

TEST(Expectations, OtherFailuresAreNot) {
  EXPECT_EQ(only_violation(found({record("a.c/tp2_f32", Outcome::fail, "equal values")})),
            "a.c/tp2_f32: fail, and no waiver explains it");
  EXPECT_EQ(only_violation(found({record("a.c/tp2_f64", Outcome::error, "it crashed")})),
            "a.c/tp2_f64: error, and no waiver explains it");
  EXPECT_EQ(
      only_violation(found({record("a.c/tp2_f64", Outcome::fail, "equal values")}, expected, "2027-07-01")),
      "a.c/tp2_f64: waiver T-1 expired on 2027-06-30");
  EXPECT_EQ(only_violation(found({record("a.b/tp2", Outcome::unsupported)})),
            "a.b/tp2: must pass, and is unsupported");
}

TEST(Expectations, WordsMustAllBeSaidInTheirOrder) {
  Expectations narrow = expected;
  narrow.waivers[0].words = {"nothing", "rank 0*y[*(3 of 9"};
  const auto violations = [&](const std::string& message) {
    return found({record("a.c/tp2_f64", Outcome::fail, message)}, narrow).violations.size();
  };
  EXPECT_EQ(violations("rank 0: y[1, 2]: 5, not 4 (3 of 9 differ)"), 0U);
  EXPECT_EQ(violations("rank 0: dx[1, 2]: 5, not 4 (3 of 9 differ)"), 1U);
  EXPECT_EQ(violations("rank 0: y[1, 2]: 5, not 4 (4 of 9 differ)"), 1U);
  EXPECT_EQ(violations("(3 of 9 differ) y[1, 2] of rank 0"), 1U);
}

TEST(Expectations, UnexpectedPassesAreReported) {
  const auto findings = found({record("a.c/tp2_f64", Outcome::pass)});
  EXPECT_TRUE(findings.violations.empty());
  EXPECT_EQ(findings.remarks, std::vector<std::string>{"unexpected pass: a.c/tp2_f64, of waiver T-1"});
}

TEST(Expectations, WrongOnesFail) {
  Expectations other = expected;
  other.implementation = "torch 2.14";
  EXPECT_EQ(only_violation(found({}, other)),
            "these are expectations of 'torch 2.14', and 'torch 2.15.0' was judged");
  other = expected;
  other.waivers[0].cases = {"a.d/*"};
  EXPECT_EQ(only_violation(found({}, other)), "waiver T-1: 'a.d/*' names no case");
  other = expected;
  other.must_pass = {"b*"};
  EXPECT_EQ(only_violation(found({}, other)), "must_pass: 'b*' names no case");
}

std::string complaint(const std::string& content) {
  const PrivateFolder folder;
  const auto file = folder.path() / "e.json";
  std::ofstream(file) << content;
  try {
    read_expectations(file);
  } catch (const UsageError& error) {
    return std::string(error.what()).substr(std::string("--expectations ").size() + file.string().size() + 2);
  }
  return "none";
}

TEST(Expectations, FilesAreReadStrictly) {
  const auto waiver = [](const char* link, const char* day) {
    return fmt::format(
        R"({{"implementation":"t","must_pass":[],"waivers":[{{"id":"A","cases":["*"],"words":"w",)"
        R"("reason":"r","link":"{}","expires":"{}"}}]}})",
        link, day);
  };
  EXPECT_EQ(complaint(waiver("https://x", "2027-06-30")), "none");
  EXPECT_EQ(complaint(waiver("http://x", "2027-06-30")), "waiver A: 'link' is no https:// address");
  EXPECT_EQ(complaint(waiver("https://x", "never")), "waiver A: 'expires' is no day as 2027-06-30");
  EXPECT_EQ(complaint("no"), "it is no JSON object, or not there");
  EXPECT_EQ(complaint(R"({"must_pass":[],"waivers":[]})"), "it lacks the text 'implementation'");
  EXPECT_EQ(complaint(R"({"implementation":"t","must_pass":[],"waivers":[{"id":"A"}]})"),
            "waiver A lacks the list 'cases'");
}

}  // namespace
}  // namespace tpc
