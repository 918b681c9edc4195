// SPDX-License-Identifier: Apache-2.0
#include "harness/front/gtest_front.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/front/renderings/report.hpp"
#include "reference/core/philox.hpp"

namespace tpc {

namespace {

using RunCase = std::function<void(const Case&)>;

class CaseTest : public testing::Test {
 public:
  CaseTest(const Case& c, const RunCase& run) : case_(c), run_(run) {}
  void TestBody() override { run_(case_); }

 private:
  const Case& case_;
  const RunCase& run_;
};

void register_cases(const std::vector<Suite>& suites, const RunCase& run) {
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases)
      testing::RegisterTest(c.suite.c_str(), c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [&c, &run]() -> testing::Test* { return new CaseTest(c, run); });
}

// Everything GoogleTest would read from its environment is overruled: it may differ from rank to rank.
void set_up_gtest(const FrontOptions& options) {
  for (const char* variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE",
                               "TEST_PREMATURE_EXIT_FILE", "XML_OUTPUT_FILE", "TESTBRIDGE_TEST_ONLY"})
    ::unsetenv(variable);
  GTEST_FLAG_SET(filter, options.filter);
  GTEST_FLAG_SET(list_tests, options.list_tests);
  GTEST_FLAG_SET(repeat, options.repeat);
  GTEST_FLAG_SET(shuffle, options.shuffle);
  GTEST_FLAG_SET(random_seed, options.random_seed);
  GTEST_FLAG_SET(fail_fast, options.fail_fast);
  GTEST_FLAG_SET(brief, options.brief);
  GTEST_FLAG_SET(output, "");
  GTEST_FLAG_SET(color, "no");  // ranks have a pseudo-terminal whatever the output ends up in
  GTEST_FLAG_SET(also_run_disabled_tests, true);  // a name is a name
  GTEST_FLAG_SET(break_on_failure, false);
  GTEST_FLAG_SET(throw_on_failure, false);
  GTEST_FLAG_SET(catch_exceptions, true);
  GTEST_FLAG_SET(stream_result_to, "");
  std::string program = "tp_conformance";
  char* arguments[] = {program.data(), nullptr};
  int count = 1;
  testing::InitGoogleTest(&count, arguments);
}

void drop_the_printer() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
}

void refuse_an_empty_selection(const FrontOptions& options) {
  const auto& unit_test = *testing::UnitTest::GetInstance();
  if (unit_test.test_to_run_count() == 0)
    throw UsageError(fmt::format("--gtest_filter={} matches none of the {} cases; see --list", options.filter,
                                 unit_test.total_test_count()));
}

// The selected cases in the order in which GoogleTest will run them.
std::vector<const Case*> selection(const testing::UnitTest& unit_test,
                                   const std::map<std::string, const Case*>& by_name) {
  std::vector<const Case*> order;
  for (int s = 0; s < unit_test.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *unit_test.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const testing::TestInfo& test = *suite.GetTestInfo(t);
      if (test.should_run()) order.push_back(by_name.at(fmt::format("{}.{}", suite.name(), test.name())));
    }
  }
  return order;
}

// One rank in another case than the others would be a hang; so the order itself is compared first.
void agree_on_order(Runner& runner, const std::vector<const Case*>& order) {
  std::uint64_t hash = hash_name("");
  for (const Case* c : order) hash = hash_name(full_name(*c) + "\n", hash);
  const auto now = Agreement::Clock::now();
  const auto same =
      runner.agreement().reach(std::to_string(hash),
                               [](const Agreement::Reports& reports) {
                                 for (const auto& report : reports)
                                   if (report != reports.front()) return "no";
                                 return "yes";
                               },
                               {now + std::chrono::seconds(60), now + std::chrono::seconds(90)});
  if (same != "yes")
    runner.stop_for({2, "ranks do not run the same cases in the same order", same == std::nullopt});
}

// Keeps runner and log in step with GoogleTest's iterations.
class FrontListener : public testing::EmptyTestEventListener {
 public:
  explicit FrontListener(const Front& front) : front_(front) {
    for (const Suite& suite : front.suites)
      for (const Case& c : suite.cases) by_name_[full_name(c)] = &c;
  }

  void OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) override {
    iteration_ = iteration;
    order_ = selection(unit_test, by_name_);
    done_.clear();
    if (order_.empty()) return;
    agree_on_order(front_.runner, order_);
    front_.runner.plan(order_, iteration + 1 < front_.options.repeat);
  }

  // What GoogleTest left out after a failure.
  void OnTestIterationEnd(const testing::UnitTest&, int) override {
    for (const Case* c : order_)
      if (!done_.contains(c))
        keep(front_.runner.not_run(*c, "a case failed before, and --gtest_fail_fast is set"));
  }

  void run(const Case& c) {
    front_.log.begin(front_.runner.not_run(c, ""));
    Record record = front_.runner.run(c);
    done_.insert(&c);
    const bool failed = record.verdict == Outcome::fail || record.verdict == Outcome::error;
    if (failed && front_.investigate && !front_.runner.stop()) front_.investigate(c, record);
    keep(record);
    if (failed)
      ADD_FAILURE_AT(record.case_name.c_str(), -1) << failure_text(record);
    else if (record.verdict != Outcome::pass)
      GTEST_SKIP() << name(record.verdict) << ": " << record.message;
  }

 private:
  void keep(Record record) {
    record.repetition = iteration_;
    try {
      front_.log.finish(record);
    } catch (const EnvironmentError& error) {
      front_.lost(error);
    }
  }

  const Front& front_;
  std::map<std::string, const Case*> by_name_;
  std::vector<const Case*> order_;
  std::set<const Case*> done_;
  int iteration_ = 0;
};

// One line that overwrites itself, and failures.
class ProgressLine : public testing::EmptyTestEventListener {
 public:
  void OnTestIterationStart(const testing::UnitTest& unit_test, int) override {
    all_ = unit_test.test_to_run_count();
    done_ = 0;
  }
  void OnTestStart(const testing::TestInfo& test) override {
    std::printf("\r\033[K[%d/%d] %s.%s", done_++, all_, test.test_suite_name(), test.name());
    std::fflush(stdout);
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::printf("\r\033[KFAILED %s\n%s\n", result.file_name() == nullptr ? "" : result.file_name(),
                  result.message());
  }
  void OnTestIterationEnd(const testing::UnitTest&, int) override {
    std::printf("\r\033[K");
    std::fflush(stdout);
  }

 private:
  int all_ = 0;
  int done_ = 0;
};

}  // namespace

void check_names(const std::vector<Suite>& suites) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.";
  std::set<std::string> names;
  for (const Suite& suite : suites)
    for (const Case& c : suite.cases) {
      TPC_EXPECT(c.suite == suite.name, "case {} stands in suite {}", full_name(c), suite.name);
      TPC_EXPECT(!c.name.empty() && full_name(c).find_first_not_of(allowed) == std::string::npos,
                 "case name '{}' holds more than letters, digits, _ / and .", full_name(c));
      TPC_EXPECT(names.insert(full_name(c)).second, "two cases are called {}", full_name(c));
    }
}

void run_with_gtest(const Front& front) {
  set_up_gtest(front.options);
  if (!front.speaks || front.watched) drop_the_printer();
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  // Appended for the run alone: they are this function's.
  ProgressLine progress;
  FrontListener listener(front);
  if (front.speaks && front.watched) listeners.Append(&progress);
  listeners.Append(&listener);
  const RunCase run = [&listener](const Case& c) { listener.run(c); };
  register_cases(front.suites, run);
  [[maybe_unused]] const int code = RUN_ALL_TESTS();  // the records decide
  listeners.Release(&progress);
  listeners.Release(&listener);
  refuse_an_empty_selection(front.options);
}

void list_with_gtest(const std::vector<Suite>& suites, const FrontOptions& options, int ranks) {
  FrontOptions once = options;
  once.repeat = 1;
  set_up_gtest(once);
  if (!options.list_tests) drop_the_printer();
  const RunCase print = [ranks](const Case& c) {
    const std::string lacking =
        ranks_of(c) > ranks ? fmt::format("  (not run: needs {} ranks and there are {})", ranks_of(c), ranks)
                            : "";
    std::printf("%s%s\n", full_name(c).c_str(), lacking.c_str());
  };
  register_cases(suites, print);
  [[maybe_unused]] const int code = RUN_ALL_TESTS();
  refuse_an_empty_selection(options);
}

}  // namespace tpc
