// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/local/local.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "reference/comm/laws/laws.hpp"

namespace tpc {
namespace {

constexpr int world_sizes[] = {1, 2, 3, 4, 6, 8};

void check_laws_on_threads(std::span<const CommunicatorLaw> laws, Completion completion) {
  for (const CommunicatorLaw& law : laws)
    for (const int size : world_sizes)
      EXPECT_NO_THROW(on_local_ranks(size, law.check, completion)) << law.name << " on " << size << " ranks";
}

TEST(LocalCommunicator, KeepsCollectiveLaws) { check_laws_on_threads(collective_laws(), Completion::prompt); }
TEST(LocalCommunicator, KeepsGroupLaws) { check_laws_on_threads(group_laws(), Completion::prompt); }
TEST(LocalCommunicator, KeepsFailureLaws) { check_laws_on_threads(failure_laws(), Completion::prompt); }
TEST(LateCommunicator, KeepsCollectiveLaws) { check_laws_on_threads(collective_laws(), Completion::late); }
TEST(LateCommunicator, KeepsGroupLaws) { check_laws_on_threads(group_laws(), Completion::late); }

TEST(LateCommunicator, PoisonsReceiveBuffersUntilWait) {
  on_local_ranks(
      3,
      [](const CommunicatorPtr& ranks) {
        const Tensor data = host_tensor(DType::f32, {4});
        const Tensor ids = host_tensor(DType::i64, {3});
        for (int i = 0; i < 4; ++i) data.data<float>()[i] = 1;
        Pending sum = ranks->start(Call::all_reduce(data, data, ReduceOp::sum));
        Pending gather = ranks->start(Call::all_gather(ids, ids.rows(ranks->rank(), 1)));
        EXPECT_TRUE(std::isnan(data.data<float>()[0]) && std::isnan(data.data<float>()[3]));
        EXPECT_EQ(ids.data<std::int64_t>()[0], std::numeric_limits<std::int64_t>::max());
        sum.wait();
        EXPECT_EQ(data.data<float>()[3], 3);
        gather.wait();
        EXPECT_EQ(ids.data<std::int64_t>()[2], 0);
      },
      Completion::late);
}

TEST(LocalCommunicator, NamesBothSidesOfAMismatch) {
  std::atomic<int> told{0};
  on_local_ranks(3, [&](const CommunicatorPtr& ranks) {
    const Tensor data = host_tensor(DType::f64, {ranks->rank() == 2 ? 5 : 4});
    try {
      ranks->all_reduce(data, data, ReduceOp::sum);
    } catch (const ContractError& error) {
      const std::string message = error.what();
      EXPECT_NE(
          message.find("rank 0 called all_reduce (sum) of 4 f64, rank 2 called all_reduce (sum) of 5 f64"),
          std::string::npos)
          << message;
      ++told;
    }
  });
  EXPECT_EQ(told, 3);
}

TEST(LocalCommunicator, NoticesAnotherOperationRootOrDtype) {
  const std::vector<std::function<void(Communicator&, const Tensor&)>> calls = {
      [](Communicator& c, const Tensor& t) { c.all_reduce(t, t, ReduceOp::max); },
      [](Communicator& c, const Tensor& t) { c.all_to_all(t, t); },
      [](Communicator& c, const Tensor& t) { c.broadcast(t, 0); },
      [](Communicator& c, const Tensor& t) { c.broadcast(t, 1); },
      [](Communicator& c, const Tensor&) {
        const Tensor narrow = host_tensor(DType::f32, {4});
        c.all_to_all(narrow, narrow);
      }};
  for (std::size_t a = 0; a < calls.size(); ++a)
    for (std::size_t b = 0; b < calls.size(); ++b) {
      const auto run = [&] {
        on_local_ranks(2, [&](const CommunicatorPtr& ranks) {
          calls[ranks->rank() == 0 ? a : b](*ranks, host_tensor(DType::f64, {4}));
        });
      };
      if (a == b)
        EXPECT_NO_THROW(run()) << a;
      else
        EXPECT_THROW(run(), ContractError) << a << " and " << b;
    }
}

TEST(LocalCommunicator, SaysWhoDidNotArrive) {
  on_local_ranks(3, [](const CommunicatorPtr& ranks) {
    if (ranks->rank() == 1) return;
    ranks->set_deadline(std::chrono::steady_clock::now());
    const Tensor data = host_tensor(DType::f64, {1});
    try {
      ranks->all_reduce(data, data, ReduceOp::sum);
      ADD_FAILURE() << "nobody noticed";
    } catch (const DeadlineExceeded& error) {
      EXPECT_NE(std::string(error.what()).find("not arrived: rank "), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find('1'), std::string::npos) << error.what();
    }
  });
}

TEST(LocalRanks, ThrowOnTheirOwnExceptionBeforeAnothersEcho) {
  const auto run = [] {
    on_local_ranks(4, [](const CommunicatorPtr& ranks) {
      if (ranks->rank() == 2) throw UsageError("mine");
      const Tensor data = host_tensor(DType::f64, {1});
      ranks->all_reduce(data, data, ReduceOp::sum);
    });
  };
  EXPECT_THROW(run(), UsageError);
}

TEST(SingleCommunicator, KeepsAllLaws) {
  for (const auto& laws : {collective_laws(), group_laws(), failure_laws()})
    for (const CommunicatorLaw& law : laws)
      EXPECT_NO_THROW(law.check(make_single_communicator("world"))) << law.name;
}

TEST(SingleCommunicator, RefusesAMessageThatWasNeverSent) {
  const auto self = make_single_communicator();
  const Message receive{Message::Way::receive, 0, host_tensor(DType::f32, {1})};
  EXPECT_THROW(self->messages({receive}), ContractError);
}

using PendingDeathTest = testing::Test;

TEST(PendingDeathTest, EndsTheProcessWhenDropped) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const auto world = make_local_world(2);
        const Tensor data = host_tensor(DType::f64, {1});
        const Pending dropped = world[0]->start(Call::all_reduce(data, data, ReduceOp::sum));
      },
      "dropped without wait");
}

}  // namespace
}  // namespace tpc
