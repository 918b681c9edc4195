// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "reference/comm/buffers.hpp"
#include "reference/comm/family.hpp"
#include "reference/comm/local/local.hpp"

namespace tpc {

namespace {

// Messages of a rank to itself, in order.
struct SelfMailbox {
  std::deque<Tensor> sent;
};

class SelfReceive : public Pending::Operation {
 public:
  SelfReceive(std::shared_ptr<SelfMailbox> mailbox, std::vector<Tensor> into)
      : mailbox_(std::move(mailbox)), into_(std::move(into)) {}

  void wait() override {
    for (const Tensor& tensor : into_) {
      TPC_EXPECT(!mailbox_->sent.empty(), "a rank waits for a message from itself that it has not sent");
      const Tensor message = mailbox_->sent.front();
      mailbox_->sent.pop_front();
      TPC_EXPECT(message.dtype() == tensor.dtype() && message.count() == tensor.count(),
                 "message of {} {} received as {} {}", message.count(), name(message.dtype()), tensor.count(),
                 name(tensor.dtype()));
      copy_elements(tensor, message);
    }
  }
  void abandon() override {}

 private:
  std::shared_ptr<SelfMailbox> mailbox_;
  std::vector<Tensor> into_;
};

class SingleCommunicator : public FamilyCommunicator {
 public:
  SingleCommunicator(const std::shared_ptr<Family>& family, const std::string& name)
      : FamilyCommunicator(family, name, {0}, 0) {}

  std::string_view transport() const override { return "single"; }
  CommunicatorPtr split(int colour, int /*key*/, const std::string& name) override {
    record({.what = "split"});
    if (colour < 0) return nullptr;
    return std::make_shared<SingleCommunicator>(family(), name);
  }
  CommunicatorPtr renew(const std::string& name) override {
    record({.what = "renew"});
    return make_single_communicator(name);
  }

 protected:
  Pending transfer(const Call& call, const DeviceStream& /*after*/) override {
    std::vector<Tensor> into;
    for (const Message& message : call.messages) {
      if (message.way == Message::Way::send)
        mailbox_->sent.push_back(copy_of(message.tensor));
      else
        into.push_back(message.tensor);
    }
    if (into.empty()) return {};
    return Pending(std::make_unique<SelfReceive>(mailbox_, std::move(into)));
  }

 private:
  std::shared_ptr<SelfMailbox> mailbox_ = std::make_shared<SelfMailbox>();
};

}  // namespace

CommunicatorPtr make_single_communicator(const std::string& name) {
  return std::make_shared<SingleCommunicator>(std::make_shared<Family>(), name);
}

}  // namespace tpc
