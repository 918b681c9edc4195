// SPDX-License-Identifier: Apache-2.0
// A thread that notices what the rank itself cannot: that it is stuck outside of every wait that has a
// deadline, and that it was told to end.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace tpc {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  struct Actions {
    std::function<void()> overdue;           // armed, and not disarmed in time; called once
    std::function<void(int signal)> signal;  // SIGINT or SIGTERM
  };

  // Both signals must be blocked in every thread (block_signals, before any is started), else the process
  // dies of them unheard.
  explicit Watchdog(Actions actions);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void arm(Clock::time_point limit);
  void disarm();

  static void block_signals();

 private:
  void watch();
  bool is_overdue();

  Actions actions_;
  std::mutex mutex_;
  std::optional<Clock::time_point> limit_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tpc
