// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/strided_copy.hpp"

#include <cstring>

namespace tpc {

namespace {

struct StridedDim {
  std::int64_t extent, to, from;
};

// Drops dims of extent 1 and joins neighbours that are one run of memory on both sides. Never empty.
std::vector<StridedDim> merged_dims(const Shape& extent, const Shape& to, const Shape& from) {
  std::vector<StridedDim> dims;
  for (std::size_t i = 0; i < extent.size(); ++i) {
    const StridedDim inner{extent[i], to[i], from[i]};
    if (inner.extent == 1) continue;
    if (!dims.empty() && dims.back().to == inner.to * inner.extent &&
        dims.back().from == inner.from * inner.extent)
      dims.back() = {dims.back().extent * inner.extent, inner.to, inner.from};
    else
      dims.push_back(inner);
  }
  if (dims.empty()) dims.push_back({1, 1, 1});
  return dims;
}

template <std::size_t size>
void copy_line(std::byte* to, const std::byte* from, const StridedDim& dim) {
  for (std::int64_t i = 0; i < dim.extent; ++i)
    std::memcpy(to + i * dim.to * static_cast<std::int64_t>(size),
                from + i * dim.from * static_cast<std::int64_t>(size), size);
}

void copy_line(std::byte* to, const std::byte* from, const StridedDim& dim, std::size_t size) {
  if (dim.to == 1 && dim.from == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(dim.extent) * size);
    return;
  }
  switch (size) {
    case 8:
      return copy_line<8>(to, from, dim);
    case 4:
      return copy_line<4>(to, from, dim);
    case 2:
      return copy_line<2>(to, from, dim);
    default:
      return copy_line<1>(to, from, dim);
  }
}

}  // namespace

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

void strided_copy(const Shape& extent, const StridedView& to, const StridedView& from,
                  std::size_t element_size) {
  if (element_count(extent) == 0) return;
  const std::vector<StridedDim> dims = merged_dims(extent, to.strides, from.strides);
  const auto size = static_cast<std::int64_t>(element_size);
  const std::size_t outer = dims.size() - 1;
  Shape index(outer, 0);
  std::int64_t to_offset = 0;
  std::int64_t from_offset = 0;
  for (;;) {
    copy_line(to.base + to_offset * size, from.base + from_offset * size, dims.back(), element_size);
    std::size_t i = outer;
    for (; i > 0; --i) {  // the odometer's next line
      const StridedDim& dim = dims[i - 1];
      to_offset += dim.to;
      from_offset += dim.from;
      if (++index[i - 1] < dim.extent) break;
      to_offset -= dim.to * dim.extent;
      from_offset -= dim.from * dim.extent;
      index[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

}  // namespace tpc
