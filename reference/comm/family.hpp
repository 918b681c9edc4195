// SPDX-License-Identifier: Apache-2.0
// What all transports share: checked arguments, names, the call log, the deadline, and size 1 as the
// identity.
#pragma once

#include <set>

#include "reference/comm/communicator.hpp"

namespace tpc {

// A call as all ranks of a group must make it.
struct CallSignature {
  std::string_view what;  // name of the collective, or "split", "renew"
  std::int64_t count = 0;
  DType dtype = DType::u8;
  std::string detail{};  // "sum", "root 1"; empty where there is none
  bool operator==(const CallSignature&) const = default;
};
std::string to_string(const CallSignature& call);  // "all_reduce (sum) of 64 f64"

// One rank's part of a family: shared by all its communicators there.
struct Family {
  CallLog log;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::set<std::string> names;  // of communicators that live
};

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
  CallLog& log() final { return family_->log; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) final { family_->deadline = deadline; }

  // Check the arguments, count the call, and leave the work to the begin_... below.
  Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) final;
  Pending start_all_gather(const Tensor& full, const Tensor& shard) final;
  Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) final;
  Pending start_all_to_all(const Tensor& out, const Tensor& in) final;
  Pending start_broadcast(const Tensor& tensor, int root) final;
  Pending start_messages(std::span<const Message> messages) final;

 protected:
  // Never called at size 1, except for messages.
  virtual Pending begin_all_reduce(const CallSignature& call, const Tensor& out, const Tensor& in,
                                   ReduceOp op) = 0;
  virtual Pending begin_all_gather(const CallSignature& call, const Tensor& full, const Tensor& shard) = 0;
  virtual Pending begin_reduce_scatter(const CallSignature& call, const Tensor& shard, const Tensor& full,
                                       ReduceOp op) = 0;
  virtual Pending begin_all_to_all(const CallSignature& call, const Tensor& out, const Tensor& in) = 0;
  virtual Pending begin_broadcast(const CallSignature& call, const Tensor& tensor, int root) = 0;
  virtual Pending begin_messages(std::span<const Message> messages) = 0;
  // Size 1: the result is the operand.
  virtual void copy_local(const Tensor& to, const Tensor& from);

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
