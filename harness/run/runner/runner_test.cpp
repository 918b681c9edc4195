// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "harness/run/runner/fakes.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

using std::chrono::milliseconds;

// What rank 0 recorded of each case, and the exit code.
struct Outcomes {
  std::vector<Record> records;
  int exit_code = 0;
  std::optional<Stop> stop;
  std::vector<std::size_t> prepared;
};

struct Setting {
  int ranks = 4;
  milliseconds deadline{60'000};
  std::function<void(FakeOracle&, int rank)> adjust = nullptr;
  std::function<void()> afterwards = nullptr;  // on rank 0
};

void count_up(Tally& tally, const std::vector<Record>& records) {
  for (const Record& record : records) count(tally, record.verdict);
}

Outcomes run_all(const std::vector<Case>& cases, const FakeImplementation::Run& run, const Setting& setting) {
  Outcomes outcomes;
  on_local_ranks(setting.ranks, [&](const CommunicatorPtr& world) {
    FakeImplementation implementation(run);
    FakeOracle oracle;
    if (setting.adjust) setting.adjust(oracle, world->rank());
    RunnerOptions options;
    options.deadline = setting.deadline;
    options.grace = setting.deadline;
    Runner runner(world, implementation, oracle, options);
    std::vector<const Case*> order;
    order.reserve(cases.size());
    for (const Case& c : cases) order.push_back(&c);
    runner.plan(order);
    std::vector<Record> records;
    records.reserve(cases.size());
    for (const Case& c : cases) records.push_back(runner.run(c));
    if (world->rank() != 0) return;
    Tally tally;
    count_up(tally, records);
    outcomes = {records, runner.exit_code(tally), runner.stop(), oracle.sizes};
    if (setting.afterwards) setting.afterwards();
  });
  return outcomes;
}

Response sum_of_ranks(Communicator& ranks, double value) {
  const Tensor x = host_tensor(DType::f64, {1});
  *x.data<double>() = value / ranks.size();
  ranks.all_reduce(x, x, ReduceOp::sum);
  return answer(*x.data<double>());
}

TEST(Runner, PassesWhatIsRightOnEveryMeshThatFits) {
  const Outcomes outcomes =
      run_all({fake_case("one", 1), fake_case("two", 2), fake_case("four", 4), fake_case("eight", 8)},
              [](const Request&, Communicator& ranks) { return sum_of_ranks(ranks, 1); }, {});

  for (int i = 0; i < 3; ++i) EXPECT_EQ(outcomes.records[static_cast<std::size_t>(i)].verdict, Outcome::pass);
  EXPECT_EQ(outcomes.records[3].verdict, Outcome::not_run);
  EXPECT_EQ(outcomes.records[3].message, "needs 8 ranks and there are 4");
  EXPECT_EQ(outcomes.exit_code, 0);
}

TEST(Runner, AWrongResultOnOneRankFailsTheCase) {
  const Outcomes outcomes = run_all({fake_case("bad", 4), fake_case("good", 2)},
                                    [](const Request&, Communicator& ranks) {
                                      return answer(ranks.size() == 4 && ranks.rank() == 2 ? 3.0 : 1.0);
                                    },
                                    {});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::fail);
  EXPECT_EQ(outcomes.records[0].worst_ratio, 3);
  EXPECT_EQ(outcomes.records[1].verdict, Outcome::pass);
  EXPECT_EQ(outcomes.exit_code, 1);
}

TEST(Runner, AThrowingRankIsAnErrorAndTheRunGoesOnToEndWith5) {
  const Outcomes outcomes = run_all({fake_case("throws", 4, 1), fake_case("good", 4, 2)},
                                    [](const Request& request, Communicator& ranks) {
                                      if (request.problem.seed == 1 && ranks.rank() == 2)
                                        throw std::out_of_range("no such shard");
                                      return sum_of_ranks(ranks, 1);
                                    },
                                    {});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::error);
  EXPECT_NE(outcomes.records[0].message.find("rank 2: no such shard"), std::string::npos);
  EXPECT_EQ(outcomes.records[1].verdict, Outcome::pass) << outcomes.records[1].message;
  EXPECT_FALSE(outcomes.stop);
  EXPECT_EQ(outcomes.exit_code, 5);
}

TEST(Runner, ASkippedCollectiveEndsTheRunAndNamesTheRank) {
  const Outcomes outcomes = run_all({fake_case("skips", 4), fake_case("never", 4)},
                                    [](const Request&, Communicator& ranks) {
                                      sum_of_ranks(ranks, 1);
                                      if (ranks.rank() == 1) return answer(1);
                                      return sum_of_ranks(ranks, 1);
                                    },
                                    {.ranks = 4, .deadline = milliseconds(1500)});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::error);
  EXPECT_NE(outcomes.records[0].message.find("did not arrive: rank 1;"), std::string::npos)
      << outcomes.records[0].message;
  EXPECT_NE(outcomes.records[0].message.find("rank 3: all_reduce of 1 f64 on first4, call 2"),
            std::string::npos)
      << outcomes.records[0].message;
  EXPECT_EQ(outcomes.records[1].verdict, Outcome::not_run);
  EXPECT_EQ(outcomes.records[1].message, "the run ended in fake.skips");
  EXPECT_EQ(outcomes.exit_code, 5);
}

TEST(Runner, ARankStuckOutsideOfCollectivesIsNamed) {
  std::atomic<bool> release{false};
  const Outcomes outcomes =
      run_all({fake_case("stuck", 2)},
              [&](const Request&, Communicator& ranks) {
                while (ranks.rank() == 1 && !release) std::this_thread::sleep_for(milliseconds(1));
                return answer(1);
              },
              {.ranks = 3, .deadline = milliseconds(1000), .afterwards = [&] { release = true; }});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::error);
  EXPECT_NE(outcomes.records[0].message.find("did not arrive: rank 1;"), std::string::npos)
      << outcomes.records[0].message;
  EXPECT_TRUE(outcomes.stop && outcomes.stop->at_once);
}

TEST(Runner, ARefusalThatIsDuePassesAndARightAnswerInsteadToo) {
  Case refused = fake_case("refused", 2, 1);
  Case answered = fake_case("answered", 2, 2);
  Case wrong = fake_case("wrong", 2, 3);
  for (Case* c : {&refused, &answered, &wrong}) {
    c->expectation = Expectation::refusal;
    c->reason_words = {"12", "8"};
  }
  const Outcomes outcomes = run_all({refused, answered, wrong},
                                    [](const Request& request, Communicator&) {
                                      if (request.problem.seed == 1)
                                        return respond(Response::Status::refused, "12 heads over 8");
                                      return answer(request.problem.seed == 2 ? 1 : 7);
                                    },
                                    {});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::pass) << outcomes.records[0].message;
  EXPECT_EQ(outcomes.records[1].verdict, Outcome::pass) << outcomes.records[1].message;
  EXPECT_EQ(outcomes.records[2].verdict, Outcome::fail);
}

TEST(Runner, AnAnswerToWhatHasNoBaselineFailsInsteadOfARefusal) {
  Case nonsense = fake_case("defect", 2, 1);
  nonsense.expectation = Expectation::refusal;
  Case again = nonsense;
  const Outcomes outcomes = run_all({nonsense, again, fake_case("good", 2, 2)},
                                    [](const Request&, Communicator&) { return answer(1); }, {});

  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(outcomes.records[i].verdict, Outcome::fail);
    EXPECT_NE(outcomes.records[i].message.find("not refused; "), std::string::npos);
  }
  EXPECT_EQ(outcomes.records[2].verdict, Outcome::pass);
}

TEST(Runner, AFailureWhilePreparingEndsTheRunWithItsCode) {
  const Outcomes outcomes = run_all(
      {fake_case("one", 2), fake_case("two", 2)}, [](const Request&, Communicator&) { return answer(1); },
      {.ranks = 2, .deadline = milliseconds(60'000), .adjust = [](FakeOracle& oracle, int rank) {
         if (rank == 1)
           oracle.on_prepare = [] { throw EnvironmentError("no space", "/dev/shm is full", "free it"); };
       }});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::error);
  EXPECT_EQ(outcomes.records[1].verdict, Outcome::not_run);
  EXPECT_EQ(outcomes.exit_code, 3);
}

TEST(Runner, ADefectOfTheCaseIsAnErrorOfItsOwn) {
  const Outcomes outcomes =
      run_all({fake_case("defect", 2)}, [](const Request&, Communicator&) { return answer(1); }, {});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::error);
  EXPECT_NE(outcomes.records[0].message.find("beyond 2^53"), std::string::npos);
}

TEST(Runner, PreparesAFewProblemsAheadAndOnlyWhatWillRun) {
  std::vector<Case> cases;
  for (std::uint64_t problem = 0; problem < 12; ++problem) {
    cases.push_back(fake_case(fmt::format("a{}", problem), 1, problem));
    cases.push_back(fake_case(fmt::format("b{}", problem), 9, problem));
  }
  const Outcomes outcomes = run_all(cases, [](const Request&, Communicator&) { return answer(1); },
                                    {.ranks = 2, .deadline = milliseconds(60'000)});

  EXPECT_EQ(outcomes.prepared, (std::vector<std::size_t>{8, 4}));
}

TEST(Runner, ARunInWhichNothingWasComparedIsNoSuccess) {
  const Outcomes outcomes =
      run_all({fake_case("one", 1)},
              [](const Request&, Communicator&) { return respond(Response::Status::unsupported, "no"); }, {});

  EXPECT_EQ(outcomes.records[0].verdict, Outcome::unsupported);
  EXPECT_EQ(outcomes.exit_code, 2);
}

TEST(Runner, ResumesAfterADeadlineThatAllRanksCameBackFrom) {
  constexpr int ranks = 3;
  constexpr std::uint64_t hanging = 1;
  std::vector<Outcome> verdicts;
  on_local_ranks(ranks, [&](const CommunicatorPtr& world) {
    FakeImplementation implementation([](const Request& request, Communicator& group) {
      if (request.problem.seed == hanging && group.rank() == 1) return answer(1);  // calls nothing
      return sum_of_ranks(group, 1);
    });
    FakeOracle oracle;
    RunnerOptions options;
    options.deadline = options.grace.emplace(milliseconds(1000));
    Runner runner(world, implementation, oracle, options);
    EXPECT_TRUE(runner.resume());
    const std::vector<Case> cases = {fake_case("hangs", ranks, hanging), fake_case("lost", ranks, 2),
                                     fake_case("goes_on", ranks, 3)};
    const auto run = [&](const Case& c) {
      const Record record = runner.run(c);
      if (world->rank() == 0) verdicts.push_back(record.verdict);
    };
    run(cases[0]);
    run(cases[1]);
    EXPECT_TRUE(runner.resume());
    run(cases[2]);
    runner.stop_for({3, "the disk is full"});
    EXPECT_FALSE(runner.resume());
  });
  EXPECT_EQ(verdicts, (std::vector<Outcome>{Outcome::error, Outcome::not_run, Outcome::pass}));
}

}  // namespace
}  // namespace tpc
