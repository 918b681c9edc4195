// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <thread>

#include "reference/comm/local/local.hpp"

namespace tpc {

namespace {

// The exception that explains the others: a rank's own before one that another rank caused.
std::exception_ptr leading_exception(const std::vector<std::exception_ptr>& exceptions) {
  std::exception_ptr abandoned;
  for (const auto& exception : exceptions) {
    if (!exception) continue;
    try {
      std::rethrow_exception(exception);
    } catch (const Abandoned&) {
      abandoned = exception;
    } catch (...) {
      return exception;
    }
  }
  return abandoned;
}

}  // namespace

void on_local_ranks(int size, const std::function<void(const CommunicatorPtr&)>& body,
                    Completion completion) {
  std::vector<CommunicatorPtr> world = make_local_world(size, completion);
  std::vector<std::exception_ptr> exceptions(world.size());
  std::vector<std::thread> threads;
  threads.reserve(world.size());
  for (std::size_t r = 0; r < world.size(); ++r) {
    threads.emplace_back([&body, &failure = exceptions[r], ranks = std::move(world[r])] {
      try {
        body(ranks);
      } catch (...) {
        failure = std::current_exception();
        ranks->abort();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (const auto exception = leading_exception(exceptions)) std::rethrow_exception(exception);
}

}  // namespace tpc
