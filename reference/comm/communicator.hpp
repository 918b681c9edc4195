// SPDX-License-Identifier: Apache-2.0
// The one interface through which ranks talk. A transport is one file: local.cpp (ranks are threads),
// mpi.cpp, nccl.cpp, dry_run.cpp. Tensors are dense; host or device as the transport says.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/tensor.hpp"

namespace tpc {

enum class ReduceOp { sum, max, min, product };
enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, point_to_point };
std::string_view name(ReduceOp op);
std::string_view name(CollectiveKind kind);

// A rank waited longer than the deadline allows, or another rank of the family gave up.
class DeadlineExceeded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class Abandoned : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a rank knows of its own calls in a family of communicators (a root and all that were split from it),
// kept so that a hang can be told: who waited for what, and who never came. One per rank and family; not
// thread-safe.
struct CallLog {
  struct Group {
    std::vector<int> members;   // ranks in the family's root
    std::int64_t calls = 0;     // collectives, of which every member makes as many
    std::int64_t messages = 0;  // point-to-point calls
  };
  std::map<std::string, Group> groups;      // by communicator name
  std::multimap<std::string, Group> ended;  // whose communicator is gone; cleared by whoever compares ranks
  std::int64_t collectives = 0;             // calls that moved data, over all groups
  std::string last;         // "all_reduce of 64 f64 on tp, call 3 (row_linear.reduce_from_tp)"
  std::string waiting_on;   // name of the communicator a wait gave up on, else empty
  bool unfinished = false;  // requests were abandoned: the family must not be used again
};

// An operation in flight. Owns or borrows its buffers; wait completes it (or orders a device stream behind
// it). Dropping one unwaited is a contract failure that ends the process, unless an exception is passing by.
class Pending {
 public:
  class Operation {
   public:
    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    virtual ~Operation() = default;
    virtual void wait() = 0;     // throws DeadlineExceeded, Abandoned or EnvironmentError
    virtual void abandon() = 0;  // gives up; buffers the transport may still touch live on
  };

  Pending() = default;  // already complete
  explicit Pending(std::unique_ptr<Operation> operation) : operation_(std::move(operation)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();
  void wait();

 private:
  void drop() noexcept;
  std::unique_ptr<Operation> operation_;
};

struct Message {
  enum class Way { send, receive } way;
  int peer;
  Tensor tensor;
};

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const std::string& name() const = 0;
  virtual std::string_view transport() const = 0;  // "threads", "mpi", "nccl", "dry-run"

  // Collective over this communicator. Ranks of one colour form a group, ordered by key; a negative colour
  // joins none and gets null. Names are for people and traces; equal names in one family are told apart by a
  // suffix.
  virtual std::shared_ptr<Communicator> split(int colour, int key, const std::string& name) = 0;
  // As split, for ranks that know the others of their group without asking. Collective over this
  // communicator: each rank passes the ranks of its own group in their order in it, or none to join none;
  // lists of different ranks are equal or disjoint. The only form that a dry run can answer for groups of its
  // own choice.
  virtual std::shared_ptr<Communicator> subgroup(const std::vector<int>& members, const std::string& name);
  // Collective. The same group as the root of a new family: own call log, own deadline, not abandoned.
  virtual std::shared_ptr<Communicator> renew(const std::string& name) = 0;

  // in and out have one shape; in place where they share elements.
  virtual Pending start_all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) = 0;
  // Along dim 0: full has size() times the rows of shard.
  virtual Pending start_all_gather(const Tensor& full, const Tensor& shard) = 0;
  virtual Pending start_reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) = 0;
  // Along dim 0, which size() divides: block j of in goes to rank j.
  virtual Pending start_all_to_all(const Tensor& out, const Tensor& in) = 0;
  virtual Pending start_broadcast(const Tensor& tensor, int root) = 0;
  // All messages may be in flight at once; between two ranks they pair in order.
  virtual Pending start_messages(std::span<const Message> messages) = 0;

  void all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) { start_all_reduce(out, in, op).wait(); }
  void all_gather(const Tensor& full, const Tensor& shard) { start_all_gather(full, shard).wait(); }
  void reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) {
    start_reduce_scatter(shard, full, op).wait();
  }
  void all_to_all(const Tensor& out, const Tensor& in) { start_all_to_all(out, in).wait(); }
  void broadcast(const Tensor& tensor, int root) { start_broadcast(tensor, root).wait(); }
  void messages(std::span<const Message> messages) { start_messages(messages).wait(); }

  // Of the whole family.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) = 0;
  virtual CallLog& log() = 0;
  virtual void poll() = 0;   // makes progress; throws Abandoned where a rank of the family has aborted
  virtual void abort() = 0;  // tells every rank of the family that this one gave up; never blocks or throws
};

using CommunicatorPtr = std::shared_ptr<Communicator>;

// Size 1: every operation works and is the identity (a copy where in and out differ).
CommunicatorPtr make_single_communicator(const std::string& name = "self");

// Ranks are threads of this process. Each thread passes its own element to its code. `late`: results arrive
// only at wait, and receive buffers are filled with NaN (integers: their largest value) until then.
enum class Completion { prompt, late };
std::vector<CommunicatorPtr> make_local_world(int size, Completion completion = Completion::prompt);

// Pretends to be one rank of many: every call checks its operands and does nothing, so traces and sizes of
// any number of ranks come from one process. Groups are made by subgroup; split, whose answer the other ranks
// know, is a ContractError above size 1.
CommunicatorPtr make_dry_run_world(int rank, int size);

}  // namespace tpc
