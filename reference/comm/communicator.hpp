// SPDX-License-Identifier: Apache-2.0
// The one interface through which ranks talk. A transport is a folder: local/ (ranks are threads), mpi/,
// nccl/, dry_run/.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reference/comm/call.hpp"
#include "reference/core/device_stream.hpp"

namespace tpc {

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

// An operation in flight. Owns or borrows its buffers. Dropping one unwaited is a contract failure that ends
// the process, unless an exception is passing by.
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
    // Of a transport whose operations a device does: what comes later in the stream sees the result, and the
    // host goes on. Elsewhere the host waits.
    virtual void wait_in(const DeviceStream&) { wait(); }
  };

  Pending() = default;  // already complete
  explicit Pending(std::unique_ptr<Operation> operation) : operation_(std::move(operation)) {}
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept;
  ~Pending();
  void wait();                               // the host sees the result
  void wait_in(const DeviceStream& stream);  // the stream does; buffers must live until it has come there

 private:
  template <class Wait>
  void finish(const Wait& wait);
  void drop() noexcept;
  std::unique_ptr<Operation> operation_;
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

  // Checks the call and begins it: on a device behind what is in the stream so far.
  Pending start(const Call& call, const DeviceStream& after = {}) {
    check(call, size());
    return begin(call, after);
  }
  // Both at once, for the host.
  void run(const Call& call) { start(call).wait(); }
  void all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) { run(Call::all_reduce(out, in, op)); }
  void all_gather(const Tensor& full, const Tensor& shard) { run(Call::all_gather(full, shard)); }
  void reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) {
    run(Call::reduce_scatter(shard, full, op));
  }
  void all_to_all(const Tensor& out, const Tensor& in) { run(Call::all_to_all(out, in)); }
  void broadcast(const Tensor& tensor, int root) { run(Call::broadcast(tensor, root)); }
  void messages(std::vector<Message> messages) { run(Call::point_to_point(std::move(messages))); }

  // Of the whole family.
  virtual void set_deadline(std::chrono::steady_clock::time_point deadline) = 0;
  virtual CallLog& log() = 0;
  virtual void poll() = 0;   // makes progress; throws Abandoned where a rank of the family has aborted
  virtual void abort() = 0;  // tells every rank of the family that this one gave up; never blocks or throws

 protected:
  virtual Pending begin(const Call& call, const DeviceStream& after) = 0;  // operands fit
};

using CommunicatorPtr = std::shared_ptr<Communicator>;

}  // namespace tpc
