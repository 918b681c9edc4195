// SPDX-License-Identifier: Apache-2.0
// tp_conformance as it is, with cases of a few microseconds and implementations that go wrong in one of them,
// on one rank: what the machinery around a case is tested with. --implementation names the fault.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "harness/front/conformance.hpp"
#include "harness/run/implementations.hpp"
#include "harness/run/runner/fakes.hpp"

namespace tpc {
namespace {

constexpr int cases_per_suite = 10;
constexpr std::uint64_t faulty_problem = 14;  // beta.case4/tp8
constexpr int faulty_rank = 5;

Suite small_suite(const std::string& name, std::uint64_t first_problem) {
  constexpr int sizes[] = {1, 2, 3, 4, 8};
  Suite suite{name, {}, {}};
  for (int i = 0; i < cases_per_suite; ++i) {
    const int ranks = sizes[i % 5];
    Case c = fake_case(fmt::format("case{}/tp{}", i, ranks), ranks, first_problem + static_cast<unsigned>(i));
    c.suite = name;
    c.statement = "the ranks add up to 1";
    suite.cases.push_back(c);
  }
  return suite;
}

std::vector<Suite> small_suites(const SuiteOptions&) {
  return {small_suite("alpha", 0), small_suite("beta", cases_per_suite)};
}

double sum_of_shares(Communicator& ranks) {
  const Tensor x = host_tensor(DType::f64, {1});
  *x.data<double>() = 1.0 / ranks.size();
  ranks.all_reduce(x, x, ReduceOp::sum);
  return *x.data<double>();
}

[[noreturn]] void loop_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

// What the faulty rank does instead of the second of three sums.
void go_wrong(const std::string& fault, Communicator& ranks) {
  if (fault == "throw") throw std::out_of_range("no such shard");
  if (fault == "environment") throw EnvironmentError("cannot allocate", "no memory left", "use fewer ranks");
  if (fault == "die") ::kill(::getpid(), SIGKILL);
  if (fault == "hang") loop_for_ever();
  if (fault == "extra") ranks.broadcast(host_tensor(DType::f64, {0}), ranks.rank());
}

Response run_small(const std::string& fault, const Request& request, Communicator& ranks) {
  const bool here = request.problem.seed == faulty_problem;
  if (here && fault == "hang0" && ranks.rank() == 0) loop_for_ever();
  if (here && fault == "slow") loop_for_ever();
  if (here && fault == "refuse")
    return ranks.rank() == faulty_rank ? respond(Response::Status::refused, "cannot") : answer(1);
  sum_of_shares(ranks);
  if (here && ranks.rank() == faulty_rank) go_wrong(fault, ranks);
  if (!(here && ranks.rank() == faulty_rank && fault == "skip")) sum_of_shares(ranks);
  const double value = sum_of_shares(ranks);
  return answer(here && ranks.rank() == faulty_rank && fault == "wrong" ? 2 : value);
}

class Faulty : public FakeImplementation {
 public:
  explicit Faulty(const std::string& fault)
      : FakeImplementation([fault](const Request& request, Communicator& ranks) {
          return run_small(fault, request, ranks);
        }),
        fault_(fault) {}
  std::string name() const override { return fault_; }

 private:
  std::string fault_;
};

}  // namespace
}  // namespace tpc

int main(int argc, char** argv) {
  tpc::Program program;
  program.suites = tpc::small_suites;
  program.implementation = [](std::string_view name, const tpc::RankPlace&) {
    return std::make_unique<tpc::Faulty>(std::string(name));
  };
  program.oracle = [](const tpc::CommunicatorPtr&, const std::vector<tpc::Suite>&) {
    return std::make_unique<tpc::FakeOracle>();
  };
  return tpc::conformance_main(argc, argv, program);
}
