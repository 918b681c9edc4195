// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/core/tensor.hpp"

namespace tpc {

// Row-major strides, in elements.
Shape strides_of(const Shape& shape);

// One array inside a larger one: where it starts, and how far apart the neighbours of each dim are; in
// elements.
struct StridedView {
  std::byte* base;
  Shape strides;
};

// Copies an array of the given extent, element by element of `element_size` bytes. The views do not overlap.
void strided_copy(const Shape& extent, const StridedView& to, const StridedView& from,
                  std::size_t element_size);

}  // namespace tpc
