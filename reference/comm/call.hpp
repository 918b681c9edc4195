// SPDX-License-Identifier: Apache-2.0
// What ranks ask of each other, as a value: what a communicator starts, observers see and faults change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/tensor.hpp"
#include "reference/core/words.hpp"

namespace tpc {

enum class ReduceOp { sum, max, min, product };
constexpr auto words(ReduceOp) { return spelling("sum", "max", "min", "product"); }
enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, point_to_point };
constexpr auto words(CollectiveKind) {
  return spelling("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "point_to_point");
}
bool reduces(CollectiveKind kind);  // whether the reduce operation matters to it

// One message of a rank. All of a call may be in flight at once; between two ranks they pair in order.
struct Message {
  enum class Way { send, receive } way;
  int peer;
  Tensor tensor;
};

// Tensors are dense, on the host or on a device as the transport says.
struct Call {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Tensor out;
  Tensor in;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  std::vector<Message> messages = {};  // of point_to_point, which has neither out nor in

  // out and in have one shape; in place where they share elements.
  static Call all_reduce(const Tensor& out, const Tensor& in, ReduceOp op);
  // Along dim 0: full has as many times the rows of shard as there are ranks.
  static Call all_gather(const Tensor& full, const Tensor& shard);
  static Call reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op);
  // Along dim 0, which the number of ranks divides: block j of in goes to rank j.
  static Call all_to_all(const Tensor& out, const Tensor& in);
  static Call broadcast(const Tensor& tensor, int root);  // out and in are the tensor
  static Call point_to_point(std::vector<Message> messages);

  // Elements passed to the call, as MPI and NCCL define it; of messages, all of them.
  std::int64_t count() const;
  DType dtype() const;
  // Bytes of the full tensor: operand of an all_reduce, result of an all_gather, input of a reduce_scatter;
  // of messages, those that are sent.
  std::int64_t payload() const;
};

// Bytes that a rank sends under the ring algorithm: 2(T-1)/T of the payload for all_reduce, all of it for
// messages, (T-1)/T else. T: ranks.
double ring_wire(CollectiveKind kind, std::int64_t payload, int ranks);

// Throws ContractError where operands do not fit each other or `ranks`, the size of the group.
void check(const Call& call, int ranks);

// A call as all ranks of a group must make it.
struct CallSignature {
  std::string_view what;  // name of the collective, or "split", "renew"
  std::int64_t count = 0;
  DType dtype = DType::u8;
  std::string detail{};  // "sum", "root 1"; empty where there is none
  bool operator==(const CallSignature&) const = default;
};
CallSignature signature_of(const Call& call);
std::string to_string(const CallSignature& call);  // "all_reduce (sum) of 64 f64"

}  // namespace tpc
