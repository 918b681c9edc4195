// SPDX-License-Identifier: Apache-2.0
#include "harness/front/renderings/junit.hpp"

#include <gtest/gtest.h>

namespace tpc {
namespace {

Record junit_record(const std::string& suite, const std::string& test, Outcome verdict,
                    const std::string& message = "") {
  Record record;
  record.suite = suite;
  record.case_name = suite + "." + test;
  record.verdict = verdict;
  record.seconds = 0.5;
  record.message = message;
  record.replay = "mpirun -np 2 tp_conformance";
  return record;
}

TEST(Junit, GroupsBySuiteWhateverTheOrder) {
  const std::string xml = junit_xml(
      {}, {junit_record("a", "one/tp2", Outcome::pass), junit_record("b", "two", Outcome::fail, "m"),
           junit_record("a", "three", Outcome::error, "e")});

  EXPECT_NE(
      xml.find(
          R"(<testsuites name="tp_conformance" tests="3" failures="1" errors="1" skipped="0" time="1.5)"),
      std::string::npos)
      << xml;
  EXPECT_NE(xml.find(R"(<testsuite name="a" tests="2" failures="0" errors="1" skipped="0" time="1.0)"),
            std::string::npos);
  EXPECT_NE(xml.find(R"(<testcase classname="a" name="one/tp2" time="0.5)"), std::string::npos);
  EXPECT_NE(xml.find(R"(<failure message="m">mpirun -np 2 tp_conformance</failure>)"), std::string::npos);
  EXPECT_NE(xml.find(R"(<error message="e">)"), std::string::npos);
}

TEST(Junit, SkipsWhatWasNotCompared) {
  const std::string xml = junit_xml({}, {junit_record("a", "one", Outcome::not_run, "needs 8 ranks"),
                                         junit_record("a", "two", Outcome::unsupported, "no z-loss")});

  EXPECT_NE(xml.find(R"(<skipped message="not_run: needs 8 ranks"/>)"), std::string::npos) << xml;
  EXPECT_NE(xml.find(R"(<skipped message="unsupported: no z-loss"/>)"), std::string::npos);
  EXPECT_NE(xml.find(R"(skipped="2")"), std::string::npos);
}

TEST(Junit, EscapesWhatXmlCannotHold) {
  const std::string xml = junit_xml({}, {junit_record("a", "one", Outcome::fail, "<\"&>\n\x01\xff‖d‖")});

  EXPECT_NE(xml.find("message=\"&lt;&quot;&amp;&gt;&#10;??‖d‖\""), std::string::npos) << xml;
}

}  // namespace
}  // namespace tpc
