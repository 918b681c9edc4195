// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/local/rendezvous.hpp"

namespace tpc {

namespace {

using Clock = std::chrono::steady_clock;

void throw_aborted(const LocalFamily& family) {
  throw Abandoned(fmt::format("rank {} gave up", *family.aborted_by));
}

// False where the deadline passed. A result that is there is delivered even after an abort.
template <class Ready>
bool wait_until_ready(LocalFamily& family, std::unique_lock<std::mutex>& lock, Clock::time_point deadline,
                      const Ready& ready) {
  while (!ready()) {
    if (family.aborted_by) throw_aborted(family);
    if (deadline == Clock::time_point::max())
      family.changed.wait(lock);
    else if (family.changed.wait_until(lock, deadline) == std::cv_status::timeout && !ready())
      return false;
  }
  return true;
}

std::string missing_ranks(const LocalGroup& group, const Exchange& exchange) {
  std::string text;
  for (std::size_t r = 0; r < exchange.deposits.size(); ++r)
    if (!exchange.deposits[r]) text += fmt::format("{}{}", text.empty() ? "" : ", ", group.members[r]);
  return text;
}

std::string find_mismatch(const LocalGroup& group, const Exchange& exchange) {
  const CallSignature& first = exchange.deposits.front()->call;
  for (std::size_t r = 1; r < exchange.deposits.size(); ++r) {
    const CallSignature& other = exchange.deposits[r]->call;
    if (other != first)
      return fmt::format("rank {} called {}, rank {} called {}", group.members.front(), to_string(first),
                         group.members[r], to_string(other));
  }
  return {};
}

}  // namespace

void throw_if_aborted(LocalFamily& family) {
  const std::lock_guard<std::mutex> lock(family.mutex);
  if (family.aborted_by) throw_aborted(family);
}

std::shared_ptr<Exchange> arrive(LocalGroup& group, std::int64_t number, int rank, Exchange::Deposit deposit,
                                 const std::function<void(Exchange&)>& complete) {
  LocalFamily& family = *group.family;
  std::shared_ptr<Exchange> exchange;
  {
    const std::lock_guard<std::mutex> lock(family.mutex);
    if (family.aborted_by) throw_aborted(family);
    auto& slot = group.exchanges[number];
    if (!slot) {
      slot = std::make_shared<Exchange>();
      slot->deposits.resize(group.members.size());
    }
    exchange = slot;
    exchange->deposits[static_cast<std::size_t>(rank)] = std::move(deposit);
    if (++exchange->arrived < static_cast<int>(group.members.size())) return exchange;
    group.exchanges.erase(number);
  }
  // Nobody touches the exchange now: all others wait for `done`.
  exchange->mismatch = find_mismatch(group, *exchange);
  if (exchange->mismatch.empty()) complete(*exchange);
  {
    const std::lock_guard<std::mutex> lock(family.mutex);
    exchange->done = true;
  }
  family.changed.notify_all();
  return exchange;
}

void await(LocalGroup& group, const Exchange& exchange, Clock::time_point deadline, const std::string& what) {
  {
    std::unique_lock<std::mutex> lock(group.family->mutex);
    if (!wait_until_ready(*group.family, lock, deadline, [&] { return exchange.done; }))
      throw DeadlineExceeded(fmt::format("the deadline passed in {}; not arrived: rank {}", what,
                                         missing_ranks(group, exchange)));
  }
  if (!exchange.mismatch.empty()) throw ContractError(fmt::format("{}: {}", what, exchange.mismatch));
}

Tensor take_message(LocalGroup& group, const MessageTicket& ticket, Clock::time_point deadline,
                    const std::string& what) {
  std::unique_lock<std::mutex> lock(group.family->mutex);
  auto& waiting = group.mailboxes[{ticket.sender, ticket.receiver}].waiting;
  if (!wait_until_ready(*group.family, lock, deadline, [&] { return waiting.contains(ticket.number); }))
    throw DeadlineExceeded(fmt::format("the deadline passed in {}; no message from rank {}", what,
                                       group.members[static_cast<std::size_t>(ticket.sender)]));
  return std::move(waiting.extract(ticket.number).mapped());
}

}  // namespace tpc
