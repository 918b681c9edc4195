// SPDX-License-Identifier: Apache-2.0
// The laws of a communicator over MPI. Every rank runs the same tests in the same order; one that fails on
// any rank fails the program.
#include <gtest/gtest.h>

#include <iostream>

#include "reference/comm/laws/laws.hpp"
#include "reference/comm/mpi/session.hpp"
#include "reference/comm/trace.hpp"

namespace tpc {
namespace {

constexpr auto patience = std::chrono::seconds(60);

class LawOnMpi : public testing::Test {
 public:
  LawOnMpi(MpiSession& session, const CommunicatorLaw& law) : session_(session), law_(law) {}

  // A family of its own for each law; a rank whose law is broken wakes the others.
  void TestBody() override {
    const CommunicatorPtr ranks = session_.world("world");
    ranks->set_deadline(std::chrono::steady_clock::now() + patience);
    try {
      law_.check(ranks);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "rank " << ranks->rank() << ": " << error.what();
      ranks->abort();
    }
  }

 private:
  MpiSession& session_;
  const CommunicatorLaw& law_;
};

void register_laws(MpiSession& session) {
  for (const auto& laws : {collective_laws(), group_laws(), failure_laws()})
    for (const CommunicatorLaw& law : laws)
      testing::RegisterTest("MpiCommunicator", std::string(law.name).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__,
                            [&session, &law]() -> testing::Test* { return new LawOnMpi(session, law); });
}

// Speaks on rank 0 alone; failures of other ranks go to stderr.
void keep_quiet() {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  class FailuresOnly : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) std::cerr << result.message() << std::endl;
    }
  };
  listeners.Append(new FailuresOnly);
}

int run(MpiSession& session) {
  const CommunicatorPtr verdict = session.world("verdict");
  verdict->set_deadline(std::chrono::steady_clock::now() + 10 * patience);
  if (verdict->rank() != 0) keep_quiet();
  register_laws(session);
  const Tensor failed = host_tensor(DType::i64, {1});
  *failed.data<std::int64_t>() = RUN_ALL_TESTS();
  verdict->all_reduce(failed, failed, ReduceOp::max);
  return *failed.data<std::int64_t>() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tpc

int main(int argc, char** argv) {
  tpc::MpiSession session(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  int code = 1;
  try {
    code = tpc::run(session);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
  }
  session.finish(code);
}
