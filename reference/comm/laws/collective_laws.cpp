// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "reference/comm/laws/laws.hpp"

namespace tpc {

void set_element(const Tensor& tensor, std::int64_t index, double value) {
  visit_any(tensor.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bf16>)
      tensor.data<T>()[index] = bf16(static_cast<float>(value));
    else
      tensor.data<T>()[index] = static_cast<T>(value);
  });
}

double element(const Tensor& tensor, std::int64_t index) {
  double value = 0;
  visit_any(tensor.dtype(), [&]<class T>(T) { value = static_cast<double>(tensor.data<T>()[index]); });
  return value;
}

namespace {

constexpr std::array all_dtypes = {DType::f64, DType::f32, DType::bf16, DType::i64, DType::u8};
constexpr std::array all_ops = {ReduceOp::sum, ReduceOp::max, ReduceOp::min, ReduceOp::product};
constexpr std::array<std::int64_t, 6> counts = {0, 1, 5, 63, 64, 65};

// Small enough that sums and products over 8 ranks are exact in bf16 and fit a byte.
double value_of(int rank, std::int64_t i, ReduceOp op) {
  const auto n = static_cast<int>((7 * rank + 3 * i + rank * i) % 13);
  return op == ReduceOp::product ? 1 + n % 2 * (rank % 3 == 0 ? 1 : 0) : n;
}

double reduced(int ranks, std::int64_t i, ReduceOp op) {
  double result = value_of(0, i, op);
  for (int r = 1; r < ranks; ++r) {
    const double next = value_of(r, i, op);
    if (op == ReduceOp::sum) result += next;
    if (op == ReduceOp::product) result *= next;
    if (op == ReduceOp::max) result = std::max(result, next);
    if (op == ReduceOp::min) result = std::min(result, next);
  }
  return result;
}

Tensor filled(DType dtype, const Shape& shape, int rank, ReduceOp op = ReduceOp::sum) {
  const Tensor tensor = host_tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.count(); ++i) set_element(tensor, i, value_of(rank, i, op));
  return tensor;
}

void expect_value(const Tensor& tensor, std::int64_t i, double expected, std::string_view what) {
  const double got = element(tensor, i);
  TPC_EXPECT(got == expected, "{} of {} {}: element {} is {}, expected {}", what, tensor.count(),
             name(tensor.dtype()), i, got, expected);
}

template <class F>
void for_each_dtype_and_op(const F& f) {
  for (const DType dtype : all_dtypes)
    for (const ReduceOp op : all_ops) f(dtype, op);
}

void all_reduce_law(const CommunicatorPtr& ranks) {
  for_each_dtype_and_op([&](DType dtype, ReduceOp op) {
    for (const std::int64_t count : counts) {
      const Tensor in = filled(dtype, {count}, ranks->rank(), op);
      const Tensor out = host_tensor(dtype, {count});
      ranks->all_reduce(out, in, op);
      for (std::int64_t i = 0; i < count; ++i) {
        expect_value(out, i, reduced(ranks->size(), i, op), name(op));
        expect_value(in, i, value_of(ranks->rank(), i, op), "operand");
      }
      ranks->all_reduce(in, in, op);
      for (std::int64_t i = 0; i < count; ++i) expect_value(in, i, reduced(ranks->size(), i, op), "in place");
    }
  });
}

void all_gather_law(const CommunicatorPtr& ranks) {
  for (const DType dtype : all_dtypes) {
    for (const std::int64_t rows : counts) {
      const Tensor full = host_tensor(dtype, {ranks->size() * rows, 2});
      const Tensor own = full.rows(ranks->rank() * rows, rows);
      const auto check = [&](std::string_view what) {
        for (int r = 0; r < ranks->size(); ++r)
          for (std::int64_t i = 0; i < rows * 2; ++i)
            expect_value(full, r * rows * 2 + i, value_of(r, i, ReduceOp::sum), what);
      };
      ranks->all_gather(full, filled(dtype, {rows, 2}, ranks->rank()));
      check("all_gather");
      std::fill_n(full.raw(), full.bytes(), std::byte{0});
      for (std::int64_t i = 0; i < own.count(); ++i)
        set_element(own, i, value_of(ranks->rank(), i, ReduceOp::sum));
      ranks->all_gather(full, own);
      check("all_gather in place");
    }
  }
}

void reduce_scatter_law(const CommunicatorPtr& ranks) {
  for_each_dtype_and_op([&](DType dtype, ReduceOp op) {
    for (const std::int64_t rows : counts) {
      const Tensor full = filled(dtype, {ranks->size() * rows}, ranks->rank(), op);
      const std::int64_t first = ranks->rank() * rows;
      const auto check = [&](const Tensor& shard, std::string_view what) {
        for (std::int64_t i = 0; i < rows; ++i)
          expect_value(shard, i, reduced(ranks->size(), first + i, op), what);
      };
      const Tensor shard = host_tensor(dtype, {rows});
      ranks->reduce_scatter(shard, full, op);
      check(shard, "reduce_scatter");
      ranks->reduce_scatter(full.rows(first, rows), full, op);
      check(full.rows(first, rows), "reduce_scatter in place");
    }
  });
}

void all_to_all_law(const CommunicatorPtr& ranks) {
  for (const DType dtype : all_dtypes) {
    for (const std::int64_t rows : counts) {
      const Tensor in = filled(dtype, {ranks->size() * rows, 3}, ranks->rank());
      const Tensor out = host_tensor(dtype, in.shape());
      const std::int64_t block = rows * 3;
      const auto check = [&](const Tensor& got, std::string_view what) {
        for (int r = 0; r < ranks->size(); ++r)
          for (std::int64_t i = 0; i < block; ++i)
            expect_value(got, r * block + i, value_of(r, ranks->rank() * block + i, ReduceOp::sum), what);
      };
      ranks->all_to_all(out, in);
      check(out, "all_to_all");
      ranks->all_to_all(in, in);
      check(in, "all_to_all in place");
    }
  }
}

// Long enough to travel in pieces, so that what arrives early meets what has not left yet.
void long_in_place_law(const CommunicatorPtr& ranks) {
  constexpr std::int64_t block = 100000;
  const Tensor exchanged = filled(DType::f64, {ranks->size() * block}, ranks->rank());
  ranks->all_to_all(exchanged, exchanged);
  const Tensor reduced_in_place = filled(DType::f64, exchanged.shape(), ranks->rank());
  const Tensor own = reduced_in_place.rows(ranks->rank() * block, block);
  ranks->reduce_scatter(own, reduced_in_place, ReduceOp::sum);
  for (std::int64_t i = 0; i < block; ++i) {
    const std::int64_t place = ranks->rank() * block + i;
    expect_value(own, i, reduced(ranks->size(), place, ReduceOp::sum), "long reduce_scatter in place");
    for (int r = 0; r < ranks->size(); ++r)
      expect_value(exchanged, r * block + i, value_of(r, place, ReduceOp::sum), "long all_to_all in place");
  }
}

void broadcast_law(const CommunicatorPtr& ranks) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t count : counts)
      for (int root = 0; root < ranks->size(); ++root) {
        const Tensor tensor = filled(dtype, {count}, ranks->rank());
        ranks->broadcast(tensor, root);
        for (std::int64_t i = 0; i < count; ++i)
          expect_value(tensor, i, value_of(root, i, ReduceOp::sum), "broadcast");
      }
}

// Everybody sends to everybody, itself included: two messages each, told apart by their order.
void messages_law(const CommunicatorPtr& ranks) {
  const int size = ranks->size();
  for (const DType dtype : all_dtypes) {
    std::vector<Message> messages;
    for (int peer = 0; peer < size; ++peer)
      for (int k = 0; k < 2; ++k) {
        messages.push_back(
            {Message::Way::send, peer, filled(dtype, {peer + 2 * k}, ranks->rank() + k, ReduceOp::sum)});
        messages.push_back({Message::Way::receive, peer, host_tensor(dtype, {ranks->rank() + 2 * k})});
      }
    ranks->messages(messages);
    std::size_t m = 0;
    for (int peer = 0; peer < size; ++peer)
      for (int k = 0; k < 2; ++k, m += 2)
        for (std::int64_t i = 0; i < ranks->rank() + 2 * k; ++i)
          expect_value(messages[m + 1].tensor, i, value_of(peer + k, i, ReduceOp::sum), "message");
  }
}

// Separate calls, all in flight at once.
void ring_law(const CommunicatorPtr& ranks) {
  const int size = ranks->size();
  const int next = (ranks->rank() + 1) % size;
  const int previous = (ranks->rank() + size - 1) % size;
  std::vector<Tensor> received;
  std::vector<Pending> pending;
  for (int k = 0; k < 3; ++k) {
    received.push_back(host_tensor(DType::f64, {4}));
    const Message receive{Message::Way::receive, previous, received.back()};
    const Message send{Message::Way::send, next, filled(DType::f64, {4}, ranks->rank() + k)};
    pending.push_back(ranks->start(Call::point_to_point({receive})));
    pending.push_back(ranks->start(Call::point_to_point({send})));
  }
  for (auto& operation : pending) operation.wait();
  for (int k = 0; k < 3; ++k)
    for (std::int64_t i = 0; i < 4; ++i)
      expect_value(received[static_cast<std::size_t>(k)], i, value_of(previous + k, i, ReduceOp::sum),
                   "ring");
}

void pending_law(const CommunicatorPtr& ranks) {
  const int size = ranks->size();
  const Tensor sum = filled(DType::f32, {9}, ranks->rank());
  const Tensor full = host_tensor(DType::f32, {size * 2});
  const Tensor largest = host_tensor(DType::f32, {9});
  Pending first = ranks->start(Call::all_reduce(sum, sum, ReduceOp::sum));
  Pending second = ranks->start(Call::all_gather(full, filled(DType::f32, {2}, ranks->rank())));
  Pending third =
      ranks->start(Call::all_reduce(largest, filled(DType::f32, {9}, ranks->rank()), ReduceOp::max));
  third.wait();
  first.wait();
  second.wait();
  for (std::int64_t i = 0; i < 9; ++i) {
    expect_value(sum, i, reduced(size, i, ReduceOp::sum), "first");
    expect_value(largest, i, reduced(size, i, ReduceOp::max), "third");
  }
  for (std::int64_t i = 0; i < 2 * size; ++i)
    expect_value(full, i, value_of(static_cast<int>(i / 2), i % 2, ReduceOp::sum), "second");
}

void scatter_gather_law(const CommunicatorPtr& ranks) {
  const Tensor in = filled(DType::i64, {ranks->size() * 3}, ranks->rank());
  const Tensor sum = host_tensor(DType::i64, in.shape());
  const Tensor shard = host_tensor(DType::i64, {3});
  const Tensor full = host_tensor(DType::i64, in.shape());
  ranks->all_reduce(sum, in, ReduceOp::sum);
  ranks->reduce_scatter(shard, in, ReduceOp::sum);
  ranks->all_gather(full, shard);
  TPC_EXPECT(std::memcmp(sum.raw(), full.raw(), sum.bytes()) == 0,
             "all_gather after reduce_scatter is not all_reduce");
}

// Values whose sum depends on the order: all ranks, and all repeats, must nevertheless get the same bits.
void same_bits_law(const CommunicatorPtr& ranks) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    const Tensor in = host_tensor(dtype, {257});
    for (std::int64_t i = 0; i < in.count(); ++i)
      set_element(in, i, 1.0 / static_cast<double>(3 + i + 31 * ranks->rank()));
    const Tensor first = host_tensor(dtype, in.shape());
    ranks->all_reduce(first, in, ReduceOp::sum);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const Tensor again = host_tensor(dtype, in.shape());
      ranks->all_reduce(again, in, ReduceOp::sum);
      TPC_EXPECT(std::memcmp(first.raw(), again.raw(), first.bytes()) == 0, "a repeat has other bits");
    }
    const Tensor all = host_tensor(dtype, {ranks->size(), in.count()});
    ranks->all_gather(all, first.reshaped({1, in.count()}));
    for (int r = 0; r < ranks->size(); ++r)
      TPC_EXPECT(std::memcmp(first.raw(), all.rows(r, 1).raw(), first.bytes()) == 0,
                 "rank {} has other bits in {}", r, name(dtype));
  }
}

constexpr std::array laws = {
    CommunicatorLaw{"all_reduce", all_reduce_law},
    CommunicatorLaw{"all_gather", all_gather_law},
    CommunicatorLaw{"reduce_scatter", reduce_scatter_law},
    CommunicatorLaw{"all_to_all", all_to_all_law},
    CommunicatorLaw{"long_in_place", long_in_place_law},
    CommunicatorLaw{"broadcast", broadcast_law},
    CommunicatorLaw{"messages", messages_law},
    CommunicatorLaw{"ring", ring_law},
    CommunicatorLaw{"several_in_flight", pending_law},
    CommunicatorLaw{"reduce_scatter_then_all_gather", scatter_gather_law},
    CommunicatorLaw{"same_bits_everywhere", same_bits_law},
};

}  // namespace

std::span<const CommunicatorLaw> collective_laws() { return laws; }

}  // namespace tpc
