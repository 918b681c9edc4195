// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/watchdog.hpp"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <utility>

namespace tpc {

namespace {

// Short against any deadline, long against the cost of waking up.
constexpr timespec look_interval = {0, 100'000'000};

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void Watchdog::block_signals() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Watchdog::Watchdog(Actions actions) : actions_(std::move(actions)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  thread_.join();
}

void Watchdog::arm(Clock::time_point limit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_ = limit;
}

void Watchdog::disarm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  limit_.reset();
}

bool Watchdog::is_overdue() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!limit_ || Clock::now() < *limit_) return false;
  limit_.reset();
  return true;
}

void Watchdog::watch() {
  const sigset_t set = ending_signals();
  for (;;) {
    const int signal = sigtimedwait(&set, nullptr, &look_interval);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ending_) return;
    }
    if (signal > 0 && actions_.signal) actions_.signal(signal);
    if (is_overdue() && actions_.overdue) actions_.overdue();
  }
}

}  // namespace tpc
