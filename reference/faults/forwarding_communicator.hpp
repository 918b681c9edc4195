// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "reference/comm/communicator.hpp"

namespace tpc {

// Hands every call on, and wraps every group that is made from it as itself. What differs is overridden.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(CommunicatorPtr inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& name() const override { return inner_->name(); }
  std::string_view transport() const override { return inner_->transport(); }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    return wrapped(inner_->split(colour, key, name));
  }
  CommunicatorPtr subgroup(const std::vector<int>& members, const std::string& name) override {
    return wrapped(inner_->subgroup(members, name));
  }
  CommunicatorPtr renew(const std::string& name) override { return wrapped(inner_->renew(name)); }

  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) override {
    return inner_->start_all_reduce(out, in, op);
  }
  Pending start_all_gather(const Tensor& full, const Tensor& shard) override {
    return inner_->start_all_gather(full, shard);
  }
  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) override {
    return inner_->start_reduce_scatter(shard, full, op);
  }
  Pending start_all_to_all(const Tensor& out, const Tensor& in) override {
    return inner_->start_all_to_all(out, in);
  }
  Pending start_broadcast(const Tensor& tensor, int root) override {
    return inner_->start_broadcast(tensor, root);
  }
  Pending start_messages(std::span<const Message> messages) override {
    return inner_->start_messages(messages);
  }

  void set_deadline(std::chrono::steady_clock::time_point deadline) override {
    inner_->set_deadline(deadline);
  }
  CallLog& log() override { return inner_->log(); }
  void poll() override { inner_->poll(); }
  void abort() override { inner_->abort(); }

 protected:
  virtual CommunicatorPtr wrap(CommunicatorPtr inner) const = 0;
  Communicator& inner() const { return *inner_; }

 private:
  CommunicatorPtr wrapped(CommunicatorPtr made) const { return made ? wrap(std::move(made)) : nullptr; }

  CommunicatorPtr inner_;
};

}  // namespace tpc
