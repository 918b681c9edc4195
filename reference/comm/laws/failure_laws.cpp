// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <thread>

#include "reference/comm/laws/laws.hpp"

namespace tpc {

namespace {

using Clock = std::chrono::steady_clock;

template <class Error, class F>
std::string thrown_by(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  TPC_EXPECT(false, "nothing was thrown");
  return {};
}

void expect_contains(const std::string& text, const std::string& part) {
  TPC_EXPECT(text.find(part) != std::string::npos, "'{}' does not say '{}'", text, part);
}

std::vector<std::int64_t> calls_of_all(Communicator& spare, std::int64_t own_calls) {
  const Tensor own = host_tensor(DType::i64, {1});
  own.data<std::int64_t>()[0] = own_calls;
  const Tensor all = host_tensor(DType::i64, {spare.size()});
  spare.all_gather(all, own);
  return {all.data<std::int64_t>(), all.data<std::int64_t>() + all.count()};
}

void expect_healthy(Communicator& ranks) {
  const Tensor one = host_tensor(DType::f64, {1});
  set_element(one, 0, 1);
  ranks.all_reduce(one, one, ReduceOp::sum);
  TPC_EXPECT(element(one, 0) == ranks.size() && !ranks.log().unfinished, "the new family is not whole");
}

// Survives the failure of the family it was made from. Has a deadline, so that a broken law ends on all
// ranks.
CommunicatorPtr spare_family(Communicator& ranks) {
  auto spare = ranks.renew("spare");
  spare->set_deadline(Clock::now() + std::chrono::minutes(1));
  return spare;
}

// Rank 1 leaves out one of three equal calls: the others learn of it by the deadline, and the call counts
// tell who is behind.
void skipped_call_law(const CommunicatorPtr& ranks) {
  if (ranks->size() == 1) return;
  const auto spare = spare_family(*ranks);
  const bool skips = ranks->rank() == 1;
  const Tensor data = host_tensor(DType::f64, {64});
  const auto group = ranks->split(0, 0, "tp");
  for (int call = 0; call < 2; ++call) group->all_reduce(data, data, ReduceOp::sum);
  if (!skips) {
    group->set_deadline(Clock::now() + std::chrono::milliseconds(50));
    const std::string message =
        thrown_by<DeadlineExceeded>([&] { group->all_reduce(data, data, ReduceOp::sum); });
    expect_contains(message, "all_reduce of 64 f64 on tp, call 3");
  }
  const CallLog& log = group->log();
  TPC_EXPECT(log.unfinished == !skips && log.waiting_on == (skips ? "" : "tp"), "rank {} waits on '{}'",
             ranks->rank(), log.waiting_on);
  TPC_EXPECT(log.last == fmt::format("all_reduce of 64 f64 on tp, call {}", skips ? 2 : 3), "last is '{}'",
             log.last);
  const auto calls = calls_of_all(*spare, log.groups.at("tp").calls);
  for (int r = 0; r < spare->size(); ++r)
    TPC_EXPECT(calls[static_cast<std::size_t>(r)] == (r == 1 ? 2 : 3), "rank {} made {} calls", r,
               calls[static_cast<std::size_t>(r)]);
  expect_healthy(*spare_family(*spare));
}

// The last rank gives up instead of calling; the others, who have no deadline, wake in whatever group they
// wait.
void abort_law(const CommunicatorPtr& ranks) {
  if (ranks->size() == 1) return;
  const auto spare = spare_family(*ranks);
  const Tensor data = host_tensor(DType::f32, {5});
  const auto group = ranks->split(ranks->rank() == 0 ? 1 : 0, 0, "most");
  const int last = ranks->size() - 1;
  if (ranks->rank() == last) {
    ranks->abort();
  } else {
    Communicator& waits_in = ranks->size() > 2 && ranks->rank() > 0 ? *group : *ranks;
    const std::string message = thrown_by<Abandoned>([&] { waits_in.all_reduce(data, data, ReduceOp::sum); });
    expect_contains(message, fmt::format("rank {} gave up", last));
    thrown_by<Abandoned>([&] { ranks->poll(); });
  }
  TPC_EXPECT(ranks->log().unfinished, "an aborted family looks finished");
  expect_healthy(*spare_family(*spare));
}

void abort_of_messages_law(const CommunicatorPtr& ranks) {
  if (ranks->size() == 1) return;
  const auto spare = spare_family(*ranks);
  if (ranks->rank() == 0) {
    ranks->abort();
  } else {
    const Message receive{Message::Way::receive, 0, host_tensor(DType::f32, {5})};
    thrown_by<Abandoned>([&] { ranks->messages({receive}); });
  }
  expect_healthy(*spare_family(*spare));
}

// An exception on its way lets go of operations in flight; without one, dropping them ends the process.
void unwinding_law(const CommunicatorPtr& ranks) {
  if (ranks->size() == 1) return;
  const auto spare = spare_family(*ranks);
  thrown_by<std::runtime_error>([&] {
    const Tensor data = host_tensor(DType::f64, {3});
    Pending pending;
    if (ranks->rank() == 0) pending = ranks->start(Call::all_reduce(data, data, ReduceOp::sum));
    throw std::runtime_error("on its way");
  });
  TPC_EXPECT(ranks->log().unfinished == (ranks->rank() == 0), "who abandoned a call is unfinished");
  expect_healthy(*spare);
}

// A message of another length than the receiver expects is noticed, not cut or left half filled.
void short_message_law(const CommunicatorPtr& ranks) {
  if (ranks->size() == 1) return;
  const auto spare = spare_family(*ranks);
  if (ranks->rank() == 0) {
    const Message send{Message::Way::send, 1, host_tensor(DType::f32, {2})};
    ranks->messages({send});
  } else if (ranks->rank() == 1) {
    const Message receive{Message::Way::receive, 0, host_tensor(DType::f32, {3})};
    thrown_by<ContractError>([&] { ranks->messages({receive}); });
  }
  expect_healthy(*spare);
}

void late_rank_law(const CommunicatorPtr& ranks) {
  ranks->set_deadline(Clock::now() + std::chrono::minutes(5));
  if (ranks->rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
  expect_healthy(*ranks);
}

constexpr std::array laws_of_failures = {
    CommunicatorLaw{"skipped_call", skipped_call_law},
    CommunicatorLaw{"abort_wakes_others", abort_law},
    CommunicatorLaw{"abort_wakes_receivers", abort_of_messages_law},
    CommunicatorLaw{"unwinding_lets_go", unwinding_law},
    CommunicatorLaw{"short_message", short_message_law},
    CommunicatorLaw{"late_rank", late_rank_law},
};

}  // namespace

std::span<const CommunicatorLaw> failure_laws() { return laws_of_failures; }

}  // namespace tpc
