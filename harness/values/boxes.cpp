// SPDX-License-Identifier: Apache-2.0
#include "harness/values/boxes.hpp"

#include <algorithm>
#include <numeric>

namespace tpc {

namespace {

// Where any of the boxes begins or ends within [first, last) of a dim; both bounds included.
std::vector<std::int64_t> bounds_within(const std::vector<Box>& boxes, std::size_t dim, std::int64_t first,
                                        std::int64_t last) {
  std::vector<std::int64_t> bounds = {first, last};
  for (const Box& box : boxes)
    for (const std::int64_t bound : {box.offset[dim], box.offset[dim] + box.extent[dim]})
      if (first < bound && bound < last) bounds.push_back(bound);
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

}  // namespace

bool has_elements(const Box& box) {
  return std::all_of(box.extent.begin(), box.extent.end(), [](std::int64_t extent) { return extent > 0; });
}

bool lies_inside(const Box& box, const Shape& shape) {
  if (box.offset.size() != shape.size() || box.extent.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (box.offset[d] < 0 || box.extent[d] < 0 || box.offset[d] + box.extent[d] > shape[d]) return false;
  return true;
}

bool share_elements(const Box& a, const Box& b) {
  if (!has_elements(a) || !has_elements(b)) return false;
  for (std::size_t d = 0; d < a.offset.size(); ++d)
    if (a.offset[d] >= b.offset[d] + b.extent[d] || b.offset[d] >= a.offset[d] + a.extent[d]) return false;
  return true;
}

std::vector<Box> distinct(std::vector<Box> boxes) {
  std::erase_if(boxes, [](const Box& box) { return !has_elements(box); });
  std::sort(boxes.begin(), boxes.end());
  boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
  return boxes;
}

bool partly_overlap(const std::vector<Box>& boxes) {
  const std::vector<Box> all = distinct(boxes);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (share_elements(all[i], all[j])) return true;
  return false;
}

std::vector<Box> cut(const Box& box, const std::vector<Box>& others) {
  if (!has_elements(box)) return {};
  std::vector<Box> parts = {{{}, {}}};
  for (std::size_t d = 0; d < box.offset.size(); ++d) {
    const std::vector<std::int64_t> bounds =
        bounds_within(others, d, box.offset[d], box.offset[d] + box.extent[d]);
    std::vector<Box> finer;
    for (const Box& part : parts)
      for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        finer.push_back(part);
        finer.back().offset.push_back(bounds[i]);
        finer.back().extent.push_back(bounds[i + 1] - bounds[i]);
      }
    parts = std::move(finer);
  }
  return parts;
}

std::optional<Shape> uncovered_element(const Shape& shape, const std::vector<Box>& boxes) {
  const std::vector<Box> all = distinct(boxes);
  if (!partly_overlap(all)) {
    const std::int64_t covered =
        std::accumulate(all.begin(), all.end(), std::int64_t{0},
                        [](std::int64_t sum, const Box& box) { return sum + element_count(box.extent); });
    if (covered == element_count(shape)) return std::nullopt;
  }
  for (const Box& part : cut({Shape(shape.size(), 0), shape}, all))
    if (std::none_of(all.begin(), all.end(), [&](const Box& box) { return share_elements(part, box); }))
      return part.offset;
  return std::nullopt;
}

std::int64_t linear_index(const Shape& shape, const Shape& index) {
  std::int64_t linear = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) linear = linear * shape[d] + index[d];
  return linear;
}

Shape index_at(const Shape& shape, std::int64_t linear) {
  Shape index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    index[d] = linear % shape[d];
    linear /= shape[d];
  }
  return index;
}

}  // namespace tpc
