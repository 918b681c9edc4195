// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/call_log.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "reference/comm/buffers.hpp"

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

class LoggedCommunicator : public Communicator {
 public:
  LoggedCommunicator(CommunicatorPtr inner, CommunicationLog& log, const Tampering& tampering)
      : inner_(std::move(inner)), log_(log), tampering_(tampering) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& name() const override { return inner_->name(); }
  std::string_view transport() const override { return inner_->transport(); }
  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    return watched(inner_->split(colour, key, name));
  }
  CommunicatorPtr subgroup(const std::vector<int>& members, const std::string& name) override {
    return watched(inner_->subgroup(members, name));
  }
  CommunicatorPtr renew(const std::string& name) override { return watched(inner_->renew(name)); }

  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) override {
    if (is_wrong(CollectiveKind::all_reduce)) return take(out, in);
    return watch(CollectiveKind::all_reduce, in, [&] { return inner_->start_all_reduce(out, in, op); });
  }
  Pending start_all_gather(const Tensor& full, const Tensor& shard) override {
    if (is_wrong(CollectiveKind::all_gather)) return take(full.rows(0, shard.size(0)), shard);
    return watch(CollectiveKind::all_gather, full, [&] { return inner_->start_all_gather(full, shard); });
  }
  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) override {
    if (is_wrong(CollectiveKind::reduce_scatter)) return take(shard, full.rows(0, shard.size(0)));
    return watch(CollectiveKind::reduce_scatter, full,
                 [&] { return inner_->start_reduce_scatter(shard, full, op); });
  }
  Pending start_all_to_all(const Tensor& out, const Tensor& in) override {
    return watch(CollectiveKind::all_to_all, in, [&] { return inner_->start_all_to_all(out, in); });
  }
  Pending start_broadcast(const Tensor& tensor, int root) override {
    return watch(CollectiveKind::broadcast, tensor, [&] { return inner_->start_broadcast(tensor, root); });
  }
  Pending start_messages(std::span<const Message> messages) override {
    return inner_->start_messages(messages);
  }

  void set_deadline(std::chrono::steady_clock::time_point deadline) override {
    inner_->set_deadline(deadline);
  }
  tpc::CallLog& log() override { return inner_->log(); }
  void poll() override {  // where calls that are under way may advance
    if (tampering_.silent) return;
    const auto start = Clock::now();
    inner_->poll();
    log_.seconds += since(start);
  }
  void abort() override { inner_->abort(); }

 private:
  CommunicatorPtr watched(CommunicatorPtr made) const {
    if (!made) return nullptr;
    return make_logged_communicator(std::move(made), log_, tampering_);
  }

  bool is_wrong(CollectiveKind kind) const { return tampering_.wrong == kind && size() > 1; }
  static Pending take(const Tensor& out, const Tensor& in) {
    copy_elements(out, in);
    return {};
  }

  template <class Start>
  Pending watch(CollectiveKind kind, const Tensor& full, const Start& start_call) {
    if (size() == 1) return start_call();
    ++log_.calls;
    log_.payload_bytes += static_cast<double>(full.bytes());
    if (tampering_.silent) return {};
    const auto start = Clock::now();
    Pending pending = start_call();
    if (tampering_.slow == kind) {
      pending.wait();
      drag(full.bytes(), since(start));
    }
    log_.seconds += since(start);
    return Pending(std::make_unique<TimedWait>(std::move(pending), log_));
  }

  // Bounded, for the first calls on a busy machine may take long themselves.
  void drag(std::size_t bytes, double seconds) {
    constexpr double longest = 0.1;
    double& shortest = shortest_.try_emplace(bytes, seconds).first->second;
    shortest = std::min(shortest, seconds);
    const double until = std::min(longest, tampering_.drag * shortest);
    const auto start = Clock::now();
    while (since(start) < until) continue;
  }

  CommunicatorPtr inner_;
  CommunicationLog& log_;
  const Tampering& tampering_;
  std::map<std::size_t, double> shortest_;  // of the slow collective, by bytes
};

}  // namespace

CommunicatorPtr make_logged_communicator(CommunicatorPtr inner, CommunicationLog& log,
                                         const Tampering& tampering) {
  return std::make_shared<LoggedCommunicator>(std::move(inner), log, tampering);
}

}  // namespace tpc::bench
