// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/local/local.hpp"

#include <algorithm>
#include <numeric>

#include "reference/comm/buffers.hpp"
#include "reference/comm/local/rendezvous.hpp"

namespace tpc {

namespace {

Tensor row_block(const Tensor& tensor, int index, int parts) {
  const std::int64_t rows = tensor.size(0) / parts;
  return tensor.rows(index * rows, rows);
}

void reduce_deposits(Exchange& exchange, ReduceOp op) {
  exchange.reduced = exchange.deposits.front()->input;
  for (std::size_t r = 1; r < exchange.deposits.size(); ++r)
    reduce_into(exchange.reduced, exchange.deposits[r]->input, op);
}

// Groups of equal colour, each ordered by key, then by rank.
void form_groups(const LocalGroup& parent, Exchange& exchange) {
  const auto ranks = parent.members.size();
  std::vector<std::size_t> order(ranks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return exchange.deposits[a]->key < exchange.deposits[b]->key;
  });
  exchange.groups.resize(ranks);
  exchange.group_ranks.resize(ranks);
  std::map<int, std::shared_ptr<LocalGroup>> by_colour;
  for (const std::size_t r : order) {
    const int colour = exchange.deposits[r]->colour;
    if (colour < 0) continue;
    auto& group = by_colour[colour];
    if (!group) {
      group = std::make_shared<LocalGroup>();
      group->family = parent.family;
    }
    exchange.group_ranks[r] = static_cast<int>(group->members.size());
    group->members.push_back(parent.members[r]);
    exchange.groups[r] = group;
  }
}

std::shared_ptr<LocalGroup> root_group(int size, Completion completion) {
  auto group = std::make_shared<LocalGroup>();
  group->family = std::make_shared<LocalFamily>();
  group->family->completion = completion;
  group->members.resize(static_cast<std::size_t>(size));
  std::iota(group->members.begin(), group->members.end(), 0);
  return group;
}

// Whose operation it is, and what to say of it.
struct Caller {
  std::shared_ptr<LocalGroup> group;
  std::shared_ptr<Family> family;
  std::string name;
  std::string what;
};

class LocalOperation : public Pending::Operation {
 public:
  // Waits, and brings the result to its receive buffers.
  using Finish = std::function<void(const Caller&)>;
  LocalOperation(Caller caller, Finish finish) : caller_(std::move(caller)), finish_(std::move(finish)) {}

  void wait() override {
    try {
      finish_(caller_);
    } catch (const std::runtime_error&) {
      caller_.family->log.waiting_on = caller_.name;
      throw;
    }
  }
  void abandon() override { caller_.family->log.unfinished = true; }

 private:
  Caller caller_;
  Finish finish_;
};

class LocalCommunicator : public FamilyCommunicator {
 public:
  LocalCommunicator(const std::shared_ptr<Family>& family, std::shared_ptr<LocalGroup> group, int rank,
                    const std::string& name)
      : FamilyCommunicator(family, name, group->members, rank), group_(std::move(group)) {}

  std::string_view transport() const override { return "threads"; }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    const auto answer = agree({.call = {.what = "split"}, .input = {}, .colour = colour, .key = key},
                              [this](Exchange& exchange) { form_groups(*group_, exchange); });
    const auto self = static_cast<std::size_t>(rank());
    if (!answer->groups[self]) return nullptr;
    return std::make_shared<LocalCommunicator>(family(), answer->groups[self], answer->group_ranks[self],
                                               name);
  }

  CommunicatorPtr renew(const std::string& name) override {
    const auto completion = group_->family->completion;
    const auto answer =
        agree({.call = {.what = "renew"}, .input = {}},
              [this, completion](Exchange& exchange) { exchange.groups = {root_group(size(), completion)}; });
    return std::make_shared<LocalCommunicator>(std::make_shared<Family>(), answer->groups.front(), rank(),
                                               name);
  }

  void poll() override {
    noting_aborts([this] { throw_if_aborted(*group_->family); });
  }

  void abort() override {
    {
      const std::lock_guard<std::mutex> lock(group_->family->mutex);
      if (!group_->family->aborted_by)
        group_->family->aborted_by = members()[static_cast<std::size_t>(rank())];
    }
    group_->family->changed.notify_all();
    family()->log.unfinished = true;
  }

 protected:
  Pending transfer(const Call& call, const DeviceStream& after) override;

 private:
  // A family that another rank gave up on is unfinished here, too.
  template <class F>
  auto noting_aborts(const F& f) -> decltype(f()) {
    try {
      return f();
    } catch (const Abandoned&) {
      log().unfinished = true;
      throw;
    }
  }

  std::shared_ptr<Exchange> deposit_at(Exchange::Deposit deposit,
                                       const std::function<void(Exchange&)>& complete) {
    return noting_aborts([&] { return arrive(*group_, ++number_, rank(), std::move(deposit), complete); });
  }

  Caller caller() { return {group_, family(), name(), log().last}; }

  // A blocking call whose answer is read right away.
  std::shared_ptr<Exchange> agree(Exchange::Deposit deposit, const std::function<void(Exchange&)>& complete) {
    record(deposit.call);
    auto exchange = deposit_at(std::move(deposit), complete);
    Pending(std::make_unique<LocalOperation>(caller(), [exchange](const Caller& caller) {
      await(*caller.group, *exchange, caller.family->deadline, caller.what);
    })).wait();
    return exchange;
  }

  Pending exchange_messages(const std::vector<Message>& messages);

  std::shared_ptr<LocalGroup> group_;
  std::int64_t number_ = 0;  // of collective calls; messages do not count
};

// What a rank receives once all have come.
void deliver(const Call& call, int self, const Exchange& exchange) {
  const auto ranks = static_cast<int>(exchange.deposits.size());
  const auto input_of = [&](int r) -> const Tensor& {
    return exchange.deposits[static_cast<std::size_t>(r)]->input;
  };
  if (call.kind == CollectiveKind::all_reduce) copy_elements(call.out, exchange.reduced);
  if (call.kind == CollectiveKind::reduce_scatter)
    copy_elements(call.out, row_block(exchange.reduced, self, ranks));
  if (call.kind == CollectiveKind::broadcast && self != call.root)
    copy_elements(call.out, input_of(call.root));
  for (int r = 0; r < ranks; ++r) {
    if (call.kind == CollectiveKind::all_gather) copy_elements(row_block(call.out, r, ranks), input_of(r));
    if (call.kind == CollectiveKind::all_to_all)
      copy_elements(row_block(call.out, r, ranks), row_block(input_of(r), self, ranks));
  }
}

Pending LocalCommunicator::transfer(const Call& call, const DeviceStream& /*after*/) {
  if (call.kind == CollectiveKind::point_to_point) return exchange_messages(call.messages);
  const bool listens = call.kind == CollectiveKind::broadcast && rank() != call.root;
  const bool receives = call.kind != CollectiveKind::broadcast || listens;
  Exchange::Deposit deposit{.call = signature_of(call), .input = listens ? Tensor() : copy_of(call.in)};
  if (receives && group_->family->completion == Completion::late) poison(call.out);
  const auto exchange = deposit_at(std::move(deposit), [&call](Exchange& complete) {
    if (reduces(call.kind)) reduce_deposits(complete, call.op);
  });
  return Pending(
      std::make_unique<LocalOperation>(caller(), [exchange, call, self = rank()](const Caller& caller) {
        await(*caller.group, *exchange, caller.family->deadline, caller.what);
        deliver(call, self, *exchange);
      }));
}

struct Receipt {
  MessageTicket ticket;
  Tensor into;
};

void receive_message(const Caller& caller, const Receipt& receipt) {
  const Tensor message = take_message(*caller.group, receipt.ticket, caller.family->deadline, caller.what);
  TPC_EXPECT(message.dtype() == receipt.into.dtype() && message.count() == receipt.into.count(),
             "{}: rank {} sent {} {}, received as {} {}", caller.what, receipt.ticket.sender, message.count(),
             name(message.dtype()), receipt.into.count(), name(receipt.into.dtype()));
  copy_elements(receipt.into, message);
}

Pending LocalCommunicator::exchange_messages(const std::vector<Message>& messages) {
  poll();
  std::vector<Receipt> receipts;
  std::vector<Tensor> copies;
  for (const Message& message : messages)
    if (message.way == Message::Way::send) copies.push_back(copy_of(message.tensor));
  {
    const std::lock_guard<std::mutex> lock(group_->family->mutex);
    auto copy = copies.begin();
    for (const Message& message : messages) {
      if (message.way == Message::Way::send) {
        LocalMailbox& mailbox = group_->mailboxes[{rank(), message.peer}];
        mailbox.waiting[mailbox.sent++] = std::move(*copy++);
      } else {
        LocalMailbox& mailbox = group_->mailboxes[{message.peer, rank()}];
        receipts.push_back({{message.peer, rank(), mailbox.received++}, message.tensor});
      }
    }
  }
  group_->family->changed.notify_all();
  if (group_->family->completion == Completion::late)
    for (const Receipt& receipt : receipts) poison(receipt.into);
  return Pending(std::make_unique<LocalOperation>(caller(), [receipts](const Caller& caller) {
    for (const Receipt& receipt : receipts) receive_message(caller, receipt);
  }));
}

}  // namespace

std::vector<CommunicatorPtr> make_local_world(int size, Completion completion) {
  TPC_EXPECT(size >= 1, "a world of {} ranks", size);
  const auto group = root_group(size, completion);
  std::vector<CommunicatorPtr> world;
  for (int r = 0; r < size; ++r)
    world.push_back(std::make_shared<LocalCommunicator>(std::make_shared<Family>(), group, r, "world"));
  return world;
}

}  // namespace tpc
