// SPDX-License-Identifier: Apache-2.0
// How little a transport is: one method. Two threads meet at a board and each works the answer out for
// itself.
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "reference/comm/buffers.hpp"
#include "reference/comm/family.hpp"
#include "reference/comm/laws/laws.hpp"

namespace tpc {
namespace {

struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int64_t, std::array<Tensor, 2>> operands;   // by number of the call
  std::map<std::pair<int, int>, std::deque<Tensor>> posts;  // by sender and receiver
};

class Awaited : public Pending::Operation {
 public:
  explicit Awaited(std::function<void()> finish) : finish_(std::move(finish)) {}
  void wait() override { finish_(); }
  void abandon() override {}

 private:
  std::function<void()> finish_;
};

Tensor half(const Tensor& tensor, int index) {
  return tensor.rows(tensor.size(0) / 2 * index, tensor.size(0) / 2);
}

void answer(const Call& call, int self, const std::array<Tensor, 2>& operands) {
  const auto& [first, second] = operands;
  if (call.kind == CollectiveKind::broadcast) return copy_elements(call.out, call.root == 0 ? first : second);
  if (reduces(call.kind)) {
    const Tensor sum = copy_of(first);
    reduce_into(sum, second, call.op);
    return copy_elements(call.out, call.kind == CollectiveKind::all_reduce ? sum : half(sum, self));
  }
  const bool gathers = call.kind == CollectiveKind::all_gather;
  copy_elements(half(call.out, 0), gathers ? first : half(first, self));
  copy_elements(half(call.out, 1), gathers ? second : half(second, self));
}

class ToyCommunicator : public FamilyCommunicator {
 public:
  ToyCommunicator(Board& board, int rank)
      : FamilyCommunicator(std::make_shared<Family>(), "toy", {0, 1}, rank), board_(board) {}

 protected:
  Pending transfer(const Call& call, const DeviceStream& /*after*/) override {
    const std::lock_guard<std::mutex> lock(board_.mutex);
    if (call.kind != CollectiveKind::point_to_point)
      board_.operands[++number_][static_cast<std::size_t>(rank())] = copy_of(call.in);
    for (const Message& message : call.messages)
      if (message.way == Message::Way::send)
        board_.posts[{rank(), message.peer}].push_back(copy_of(message.tensor));
    board_.changed.notify_all();
    return Pending(std::make_unique<Awaited>([this, call, number = number_] { finish(call, number); }));
  }

 private:
  void finish(const Call& call, std::int64_t number) {
    std::unique_lock<std::mutex> lock(board_.mutex);
    for (const Message& message : call.messages) {
      if (message.way == Message::Way::send) continue;
      std::deque<Tensor>& post = board_.posts[{message.peer, rank()}];
      await(lock, [&] { return !post.empty(); });
      copy_elements(message.tensor, post.front());
      post.pop_front();
    }
    if (call.kind == CollectiveKind::point_to_point) return;
    const std::array<Tensor, 2>& operands = board_.operands[number];
    await(lock, [&] { return operands[0] && operands[1]; });
    answer(call, rank(), operands);
  }

  // A rank that broke a law comes no more.
  void await(std::unique_lock<std::mutex>& lock, const std::function<bool()>& come) {
    if (!board_.changed.wait_for(lock, std::chrono::seconds(20), come))
      throw DeadlineExceeded("the other rank did not come");
  }

  Board& board_;
  std::int64_t number_ = 0;
};

TEST(Toy, KeepsTheLawsOfAllCollectivesByOneMethod) {
  Board board;
  std::array<std::string, 2> broken;
  const auto keep_laws = [&](int rank) {
    const auto self = std::make_shared<ToyCommunicator>(board, rank);
    try {
      for (const CommunicatorLaw& law : collective_laws()) law.check(self);
    } catch (const std::exception& error) {
      broken[static_cast<std::size_t>(rank)] = error.what();
    }
  };
  std::thread other(keep_laws, 1);
  keep_laws(0);
  other.join();
  EXPECT_EQ(broken, (std::array<std::string, 2>{}));
}

}  // namespace
}  // namespace tpc
