// SPDX-License-Identifier: Apache-2.0
#include "reference/comm/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

namespace tpc {

namespace {

// Integers go through their unsigned type, where running over is defined.
template <class T>
T combine(ReduceOp op, T a, T b) {
  if (op == ReduceOp::max) return a < b ? b : a;
  if (op == ReduceOp::min) return b < a ? b : a;
  const bool sum = op == ReduceOp::sum;
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    return static_cast<T>(sum ? x + y : x * y);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return bf16(sum ? static_cast<float>(a) + static_cast<float>(b)
                    : static_cast<float>(a) * static_cast<float>(b));
  } else {
    return sum ? a + b : a * b;
  }
}

}  // namespace

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.bytes() == 0 || b.bytes() == 0 || a.place() == Place::nowhere || b.place() == Place::nowhere)
    return false;
  const std::less<> before;
  return before(a.raw(), b.raw() + b.bytes()) && before(b.raw(), a.raw() + a.bytes());
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy = host_tensor(tensor.dtype(), tensor.shape(), "transport");
  copy_elements(copy, tensor);
  return copy;
}

void copy_elements(const Tensor& to, const Tensor& from) {
  TPC_EXPECT(to.bytes() == from.bytes(), "copy of {} bytes into {}", from.bytes(), to.bytes());
  if (from.bytes() == 0 || to.raw() == from.raw() || from.place() == Place::nowhere) return;
  std::memmove(to.raw(), from.raw(), from.bytes());
}

void poison(const Tensor& tensor) {
  if (tensor.count() == 0) return;
  visit_any(tensor.dtype(), [&]<class T>(T) {
    T value;
    if constexpr (std::is_same_v<T, bf16>)
      value = bf16(std::numeric_limits<float>::quiet_NaN());
    else if constexpr (std::is_integral_v<T>)
      value = std::numeric_limits<T>::max();
    else
      value = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(tensor.data<T>(), tensor.count(), value);
  });
}

void reduce_into(const Tensor& accumulator, const Tensor& next, ReduceOp op) {
  TPC_EXPECT(accumulator.dtype() == next.dtype() && accumulator.count() == next.count(),
             "reduction of {} {} with {} {}", accumulator.count(), name(accumulator.dtype()), next.count(),
             name(next.dtype()));
  if (next.count() == 0) return;
  visit_any(accumulator.dtype(), [&]<class T>(T) {
    T* const into = accumulator.data<T>();
    const T* const from = next.data<T>();
    for (std::int64_t i = 0; i < next.count(); ++i) into[i] = combine(op, into[i], from[i]);
  });
}

}  // namespace tpc
