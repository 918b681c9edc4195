// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/trace.hpp"

#include <array>

namespace tpc {

namespace {

constexpr std::array<std::string_view, 7> phase_names = {"build",    "load", "forward", "backward",
                                                         "finalise", "step", "other"};

class TracedCommunicator : public Communicator {
 public:
  TracedCommunicator(CommunicatorPtr inner, const Site& site, Trace& trace)
      : inner_(std::move(inner)), site_(site), trace_(trace) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& name() const override { return inner_->name(); }
  std::string_view transport() const override { return inner_->transport(); }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    return traced(inner_->split(colour, key, name));
  }
  CommunicatorPtr subgroup(const std::vector<int>& members, const std::string& name) override {
    return traced(inner_->subgroup(members, name));
  }
  CommunicatorPtr renew(const std::string& name) override { return traced(inner_->renew(name)); }

  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) override {
    Pending pending = inner_->start_all_reduce(out, in, op);
    write(CollectiveKind::all_reduce, in, in.bytes(), op);
    return pending;
  }
  Pending start_all_gather(const Tensor& full, const Tensor& shard) override {
    Pending pending = inner_->start_all_gather(full, shard);
    write(CollectiveKind::all_gather, shard, full.bytes());
    return pending;
  }
  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) override {
    Pending pending = inner_->start_reduce_scatter(shard, full, op);
    write(CollectiveKind::reduce_scatter, shard, full.bytes(), op);
    return pending;
  }
  Pending start_all_to_all(const Tensor& out, const Tensor& in) override {
    Pending pending = inner_->start_all_to_all(out, in);
    write(CollectiveKind::all_to_all, in, in.bytes());
    return pending;
  }
  Pending start_broadcast(const Tensor& tensor, int root) override {
    Pending pending = inner_->start_broadcast(tensor, root);
    write(CollectiveKind::broadcast, tensor, tensor.bytes());
    return pending;
  }
  Pending start_messages(std::span<const Message> messages) override {
    Pending pending = inner_->start_messages(messages);
    for (const Message& message : messages)
      if (message.way == Message::Way::send)
        write(CollectiveKind::point_to_point, message.tensor, message.tensor.bytes());
    return pending;
  }

  void set_deadline(std::chrono::steady_clock::time_point deadline) override {
    inner_->set_deadline(deadline);
  }
  CallLog& log() override { return inner_->log(); }
  void poll() override { inner_->poll(); }
  void abort() override { inner_->abort(); }

 private:
  CommunicatorPtr traced(CommunicatorPtr communicator) const {
    if (!communicator) return nullptr;
    return make_traced(std::move(communicator), site_, trace_);
  }

  void write(CollectiveKind kind, const Tensor& operand, std::size_t payload, ReduceOp op = ReduceOp::sum) {
    inner_->log().last +=
        fmt::format(" ({}{}{})", site_.layer, site_.layer.empty() ? "" : ".", site_.operation);
    if (size() == 1) return;
    const double steps = kind == CollectiveKind::all_reduce ? 2 : 1;
    const double share = kind == CollectiveKind::point_to_point ? 1 : steps * (size() - 1) / size();
    trace_.push_back({.kind = kind,
                      .op = op,
                      .axis = name(),
                      .group_size = size(),
                      .layer = site_.layer,
                      .operation = site_.operation,
                      .phase = site_.phase,
                      .count = operand.count(),
                      .dtype = operand.dtype(),
                      .payload = static_cast<std::int64_t>(payload),
                      .ring_wire = share * static_cast<double>(payload)});
  }

  CommunicatorPtr inner_;
  const Site& site_;
  Trace& trace_;
};

}  // namespace

std::string_view name(Phase phase) { return phase_names.at(static_cast<std::size_t>(phase)); }

CommunicatorPtr make_traced(CommunicatorPtr inner, const Site& site, Trace& trace) {
  return std::make_shared<TracedCommunicator>(std::move(inner), site, trace);
}

}  // namespace tpc
