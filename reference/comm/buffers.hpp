// SPDX-License-Identifier: Apache-2.0
// What transports do with tensors on the host.
#pragma once

#include "reference/comm/communicator.hpp"

namespace tpc {

bool overlap(const Tensor& a, const Tensor& b);
Tensor copy_of(const Tensor& tensor);
// Nothing where both are the same elements or nothing is stored.
void copy_elements(const Tensor& to, const Tensor& from);
// NaN; integers: their largest value.
void poison(const Tensor& tensor);

// accumulator = op(accumulator, next), element by element. Each result is rounded to the dtype; integers wrap
// around.
void reduce_into(const Tensor& accumulator, const Tensor& next, ReduceOp op);

}  // namespace tpc
