// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/call_log.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "reference/comm/buffers.hpp"
#include "reference/comm/intercept.hpp"

namespace tpc::bench {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Counts the time that the inner operation is waited for.
class TimedWait : public Pending::Operation {
 public:
  TimedWait(Pending inner, CommunicationLog& log) : inner_(std::move(inner)), log_(log) {}
  void wait() override {
    const auto start = Clock::now();
    inner_.wait();
    log_.seconds += since(start);
  }
  void abandon() override {}  // the inner one does

 private:
  Pending inner_;
  CommunicationLog& log_;
};

class Watch {
 public:
  Watch(CommunicationLog& log, const Tampering& tampering) : log_(log), tampering_(tampering) {}

  Pending start(Communicator& inner, const Call& call, const DeviceStream& after) {
    if (inner.size() == 1 || call.kind == CollectiveKind::point_to_point) return inner.start(call, after);
    if (tampering_.wrong == call.kind) return take_own(call);
    ++log_.calls;
    log_.payload_bytes += static_cast<double>(call.payload());
    if (tampering_.silent) return {};
    const auto begun = Clock::now();
    Pending pending = inner.start(call, after);
    if (tampering_.slow == call.kind) {
      pending.wait();
      drag({inner.name(), call.payload()}, since(begun));
    }
    log_.seconds += since(begun);
    return Pending(std::make_unique<TimedWait>(std::move(pending), log_));
  }

  void poll(Communicator& inner) {  // where calls that are under way may advance
    if (tampering_.silent) return;
    const auto begun = Clock::now();
    inner.poll();
    log_.seconds += since(begun);
  }

 private:
  static Pending take_own(const Call& call) {
    const std::int64_t rows = std::min(call.out.size(0), call.in.size(0));
    copy_elements(call.out.rows(0, rows), call.in.rows(0, rows));
    return {};
  }

  // Bounded, for the first calls on a busy machine may take long themselves.
  void drag(const std::pair<std::string, std::int64_t>& call, double seconds) {
    constexpr double longest = 0.1;
    double& shortest = shortest_.try_emplace(call, seconds).first->second;
    shortest = std::min(shortest, seconds);
    const double until = std::min(longest, tampering_.drag * shortest);
    const auto begun = Clock::now();
    while (since(begun) < until) continue;
  }

  CommunicationLog& log_;
  const Tampering& tampering_;
  std::map<std::pair<std::string, std::int64_t>, double>
      shortest_;  // of the slow collective, by group and bytes
};

}  // namespace

CommunicatorPtr make_logged_communicator(CommunicatorPtr inner, CommunicationLog& log,
                                         const Tampering& tampering) {
  const auto watch = std::make_shared<Watch>(log, tampering);
  return intercept(std::move(inner),
                   {.start = [watch](Communicator& group, const Call& call,
                                     const DeviceStream& after) { return watch->start(group, call, after); },
                    .poll = [watch](Communicator& group) { watch->poll(group); }});
}

}  // namespace tpc::bench
