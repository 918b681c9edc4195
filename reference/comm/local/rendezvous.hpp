// SPDX-License-Identifier: Apache-2.0
// Where threads that act as ranks meet: behind local.cpp.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "reference/comm/family.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {

// The threads of a family wait on one condition, so that one abort wakes them all.
struct LocalFamily {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> aborted_by;  // rank in the family's root
  Completion completion = Completion::prompt;
};

struct LocalGroup;

// One collective call. All fields under the family's mutex until `done`, read-only from then on.
struct Exchange {
  struct Deposit {
    CallSignature call;
    Tensor input;  // the exchange's own copy
    int colour = 0;
    int key = 0;
  };
  std::vector<std::optional<Deposit>> deposits;  // by rank
  int arrived = 0;
  bool done = false;
  std::string mismatch;  // ranks that called different things
  Tensor reduced;
  std::vector<std::shared_ptr<LocalGroup>> groups;  // by rank: answer of split and renew
  std::vector<int> group_ranks;
};

struct LocalMailbox {
  std::int64_t sent = 0;
  std::int64_t received = 0;  // tickets handed out to receives
  std::map<std::int64_t, Tensor> waiting;
};

struct LocalGroup {
  std::shared_ptr<LocalFamily> family;
  std::vector<int> members;                                     // ranks in the family's root
  std::map<std::int64_t, std::shared_ptr<Exchange>> exchanges;  // by number of the call
  std::map<std::pair<int, int>, LocalMailbox> mailboxes;        // by sender and receiver
};

// Puts the deposit of `rank` into its call. The last to arrive lets `complete` work out what all wait for.
std::shared_ptr<Exchange> arrive(LocalGroup& group, std::int64_t number, int rank, Exchange::Deposit deposit,
                                 const std::function<void(Exchange&)>& complete);

// Throws DeadlineExceeded naming `what` and those who are missing, Abandoned, or ContractError on a mismatch.
void await(LocalGroup& group, const Exchange& exchange, std::chrono::steady_clock::time_point deadline,
           const std::string& what);

// Waits until the message with this ticket has come and takes it.
struct MessageTicket {
  int sender;
  int receiver;
  std::int64_t number;
};
Tensor take_message(LocalGroup& group, const MessageTicket& ticket,
                    std::chrono::steady_clock::time_point deadline, const std::string& what);

void throw_if_aborted(LocalFamily& family);

}  // namespace tpc
