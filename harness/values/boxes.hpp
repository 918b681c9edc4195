// SPDX-License-Identifier: Apache-2.0
// The algebra of boxes: what several parts of a tensor cover, and where they meet.
#pragma once

#include <optional>
#include <vector>

#include "reference/core/tensor.hpp"

namespace tpc {

// The elements offset ... offset + extent - 1 of every dim. The box of a scalar has no dims and one element.
struct Box {
  Shape offset;
  Shape extent;
  bool operator==(const Box&) const = default;
  bool operator<(const Box& other) const {
    return offset != other.offset ? offset < other.offset : extent < other.extent;
  }
};

bool has_elements(const Box& box);
bool lies_inside(const Box& box, const Shape& shape);  // also: one offset and extent per dim, none negative
bool share_elements(const Box& a, const Box& b);       // of the same number of dims
std::vector<Box> distinct(std::vector<Box> boxes);     // sorted; without empty ones

// Whether two boxes share elements without being equal.
bool partly_overlap(const std::vector<Box>& boxes);

// Cuts a box wherever one of the others begins or ends: the parts of all boxes, cut by all, are equal or
// disjoint. Row-major order.
std::vector<Box> cut(const Box& box, const std::vector<Box>& others);

// The index of an element of the shape that is in no box.
std::optional<Shape> uncovered_element(const Shape& shape, const std::vector<Box>& boxes);

std::int64_t linear_index(const Shape& shape, const Shape& index);
Shape index_at(const Shape& shape, std::int64_t linear);

// Calls use(index of the first element, count) for every run of elements along the last dim of a box.
template <class Use>
void for_each_run_of(const Box& box, Use&& use) {
  if (!has_elements(box)) return;
  const std::size_t outer = box.extent.empty() ? 0 : box.extent.size() - 1;
  const std::int64_t run = box.extent.empty() ? 1 : box.extent.back();
  Shape index = box.offset;
  while (true) {
    use(static_cast<const Shape&>(index), run);
    std::size_t d = outer;
    while (d > 0 && ++index[d - 1] == box.offset[d - 1] + box.extent[d - 1]) {
      index[d - 1] = box.offset[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace tpc
