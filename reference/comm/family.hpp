// SPDX-License-Identifier: Apache-2.0
// What all transports share: names, the call log, the deadline, and size 1 as the identity.
#pragma once

#include <set>

#include "reference/comm/communicator.hpp"

namespace tpc {

// One rank's part of a family: shared by all its communicators there.
struct Family {
  CallLog log;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::set<std::string> names;  // of communicators that live
};

// A transport overrides `transfer`, and what makes groups and ends hangs where it can.
class FamilyCommunicator : public Communicator {
 public:
  // `members` are ranks in the family's root, in the order of this communicator.
  FamilyCommunicator(std::shared_ptr<Family> family, const std::string& wanted_name, std::vector<int> members,
                     int rank);
  // The name is free again.
  ~FamilyCommunicator() override;

  int rank() const final { return rank_; }
  int size() const final { return static_cast<int>(members_.size()); }
  const std::string& name() const final { return name_; }
  std::string_view transport() const override { return "none"; }
  CallLog& log() final { return family_->log; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) final { family_->deadline = deadline; }

  // ContractError: a transport without groups.
  CommunicatorPtr split(int colour, int key, const std::string& name) override;
  CommunicatorPtr renew(const std::string& name) override;
  void poll() override {}
  void abort() override { log().unfinished = true; }

 protected:
  // Counts the call and leaves the work to one of the two below.
  Pending begin(const Call& call, const DeviceStream& after) final;
  virtual Pending transfer(const Call& call, const DeviceStream& after) = 0;
  // Of one rank, messages aside: the result is the operand.
  virtual Pending transfer_alone(const Call& call, const DeviceStream& after);

  const std::shared_ptr<Family>& family() const { return family_; }
  const std::vector<int>& members() const { return members_; }
  void record(const CallSignature& call);

 private:
  std::shared_ptr<Family> family_;
  std::string name_;
  std::vector<int> members_;
  int rank_;
};

}  // namespace tpc
