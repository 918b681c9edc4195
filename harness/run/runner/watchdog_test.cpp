// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

namespace tpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Longer than any wait that is expected to end; the tests themselves end as soon as it does.
constexpr seconds patience{60};

TEST(Watchdog, BarksOnceWhenNotDisarmedInTime) {
  std::promise<void> barked;
  Watchdog dog({.overdue = [&] { barked.set_value(); }, .signal = {}});

  dog.arm(Watchdog::Clock::now() + milliseconds(20));

  EXPECT_EQ(barked.get_future().wait_for(patience), std::future_status::ready);
}

TEST(Watchdog, IsSilentWhenDisarmed) {
  std::atomic<bool> barked{false};
  Watchdog dog({.overdue = [&] { barked = true; }, .signal = {}});
  const auto limit = Watchdog::Clock::now() + seconds(1);

  dog.arm(limit);
  dog.disarm();
  std::this_thread::sleep_until(limit + milliseconds(400));

  EXPECT_FALSE(barked);
}

TEST(Watchdog, HearsThatTheProcessIsToEnd) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Watchdog::block_signals();
  std::promise<int> heard;
  Watchdog dog({.overdue = {}, .signal = [&](int signal) { heard.set_value(signal); }});

  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);

  auto future = heard.get_future();
  ASSERT_EQ(future.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(future.get(), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace tpc
