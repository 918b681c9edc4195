// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/intercept.hpp"

namespace tpc {

namespace {

class Intercepted : public Communicator {
 public:
  Intercepted(CommunicatorPtr inner, Interception with) : inner_(std::move(inner)), with_(std::move(with)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& name() const override { return inner_->name(); }
  std::string_view transport() const override { return inner_->transport(); }

  CommunicatorPtr split(int colour, int key, const std::string& name) override {
    return wrapped(inner_->split(colour, key, name));
  }
  CommunicatorPtr subgroup(const std::vector<int>& members, const std::string& name) override {
    return wrapped(inner_->subgroup(with_.regroup ? with_.regroup(members) : members, name));
  }
  CommunicatorPtr renew(const std::string& name) override { return wrapped(inner_->renew(name)); }

  void set_deadline(std::chrono::steady_clock::time_point deadline) override {
    inner_->set_deadline(deadline);
  }
  CallLog& log() override { return inner_->log(); }
  void poll() override { with_.poll ? with_.poll(*inner_) : inner_->poll(); }
  void abort() override { inner_->abort(); }

 protected:
  Pending begin(const Call& call, const DeviceStream& after) override {
    return with_.start(*inner_, call, after);
  }

 private:
  CommunicatorPtr wrapped(CommunicatorPtr made) const {
    return made ? intercept(std::move(made), with_) : nullptr;
  }

  CommunicatorPtr inner_;
  Interception with_;
};

}  // namespace

CommunicatorPtr intercept(CommunicatorPtr inner, Interception with) {
  return std::make_shared<Intercepted>(std::move(inner), std::move(with));
}

}  // namespace tpc
