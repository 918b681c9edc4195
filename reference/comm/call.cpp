// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/call.hpp"

#include <array>

#include "reference/comm/buffers.hpp"

namespace tpc {

namespace {

// `full` holds `ranks` shards along dim 0.
void check_shards(CollectiveKind kind, const Tensor& full, const Tensor& shard, int ranks) {
  Shape whole = shard.shape();
  if (!whole.empty()) whole[0] *= ranks;
  TPC_EXPECT(!whole.empty() && whole == full.shape(), "{} over {} ranks: shard {} and full {} do not fit",
             name(kind), ranks, to_string(shard.shape()), to_string(full.shape()));
}

void check_shapes(const Call& call, int ranks) {
  const Shape& in = call.in.shape();
  const Shape& out = call.out.shape();
  switch (call.kind) {
    case CollectiveKind::all_reduce:
      TPC_EXPECT(out == in, "all_reduce of {} into {}", to_string(in), to_string(out));
      TPC_EXPECT(call.out.raw() == call.in.raw() || !overlap(call.out, call.in),
                 "all_reduce between buffers that overlap in part");
      break;
    case CollectiveKind::all_gather:
      check_shards(call.kind, call.out, call.in, ranks);
      break;
    case CollectiveKind::reduce_scatter:
      check_shards(call.kind, call.in, call.out, ranks);
      break;
    case CollectiveKind::all_to_all:
      TPC_EXPECT(out == in && !in.empty() && in[0] % ranks == 0, "all_to_all over {} ranks of {} into {}",
                 ranks, to_string(in), to_string(out));
      break;
    case CollectiveKind::broadcast:
      TPC_EXPECT(call.root >= 0 && call.root < ranks, "broadcast from rank {} of {}", call.root, ranks);
      break;
    case CollectiveKind::point_to_point:
      break;
  }
}

}  // namespace

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

Call Call::all_reduce(const Tensor& out, const Tensor& in, ReduceOp op) {
  return {CollectiveKind::all_reduce, out, in, op};
}
Call Call::all_gather(const Tensor& full, const Tensor& shard) {
  return {CollectiveKind::all_gather, full, shard};
}
Call Call::reduce_scatter(const Tensor& shard, const Tensor& full, ReduceOp op) {
  return {CollectiveKind::reduce_scatter, shard, full, op};
}
Call Call::all_to_all(const Tensor& out, const Tensor& in) { return {CollectiveKind::all_to_all, out, in}; }
Call Call::broadcast(const Tensor& tensor, int root) {
  return {CollectiveKind::broadcast, tensor, tensor, ReduceOp::sum, root};
}
Call Call::point_to_point(std::vector<Message> messages) {
  return {CollectiveKind::point_to_point, {}, {}, ReduceOp::sum, 0, std::move(messages)};
}

std::int64_t Call::count() const {
  if (kind == CollectiveKind::reduce_scatter) return out.count();
  if (kind != CollectiveKind::point_to_point) return in.count();
  std::int64_t sum = 0;
  for (const Message& message : messages) sum += message.tensor.count();
  return sum;
}

DType Call::dtype() const {
  if (kind != CollectiveKind::point_to_point) return in.dtype();
  return messages.empty() ? DType::u8 : messages.back().tensor.dtype();
}

std::int64_t Call::payload() const {
  std::size_t bytes = 0;
  if (kind == CollectiveKind::point_to_point) {
    for (const Message& message : messages)
      if (message.way == Message::Way::send) bytes += message.tensor.bytes();
  } else {
    bytes = (kind == CollectiveKind::all_gather ? out : in).bytes();
  }
  return static_cast<std::int64_t>(bytes);
}

double ring_wire(CollectiveKind kind, std::int64_t payload, int ranks) {
  const auto bytes = static_cast<double>(payload);
  if (kind == CollectiveKind::point_to_point) return bytes;
  const double steps = kind == CollectiveKind::all_reduce ? 2 : 1;
  return steps * (ranks - 1) / ranks * bytes;
}

void check(const Call& call, int ranks) {
  for (const Message& message : call.messages)
    TPC_EXPECT(message.tensor && message.peer >= 0 && message.peer < ranks, "message with rank {} of {}",
               message.peer, ranks);
  if (call.kind == CollectiveKind::point_to_point) return;
  TPC_EXPECT(call.out && call.in, "{} without a tensor", name(call.kind));
  TPC_EXPECT(call.out.dtype() == call.in.dtype(), "{} from {} to {}", name(call.kind), name(call.in.dtype()),
             name(call.out.dtype()));
  check_shapes(call, ranks);
}

CallSignature signature_of(const Call& call) {
  CallSignature signature{name(call.kind), call.count(), call.dtype()};
  if (reduces(call.kind)) signature.detail = name(call.op);
  if (call.kind == CollectiveKind::broadcast) signature.detail = fmt::format("root {}", call.root);
  return signature;
}

std::string to_string(const CallSignature& call) {
  if (call.what == "split" || call.what == "renew") return std::string(call.what);
  return fmt::format("{}{} of {} {}", call.what, call.detail.empty() ? "" : " (" + call.detail + ")",
                     call.count, name(call.dtype));
}

}  // namespace tpc
