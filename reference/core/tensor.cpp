// SPDX-License-Identifier: Apache-2.0
#include "reference/core/tensor.hpp"

#include <cstdlib>

namespace tpc {

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) {
    TPC_EXPECT(extent >= 0, "negative extent in shape {}", to_string(shape));
    count *= extent;
  }
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

Tensor::Tensor(std::shared_ptr<Storage> storage, DType dtype, Shape shape, std::int64_t first_element)
    : storage_(std::move(storage)),
      dtype_(dtype),
      shape_(std::move(shape)),
      first_(first_element),
      count_(element_count(shape_)) {
  TPC_EXPECT(storage_ != nullptr, "tensor without storage");
  const auto end = static_cast<std::size_t>(first_ + count_) * size_of(dtype_);
  TPC_EXPECT(first_ >= 0 && end <= storage_->bytes,
             "tensor {} of {} at element {} exceeds its storage of {} bytes", to_string(shape_), name(dtype_),
             first_, storage_->bytes);
}

std::int64_t Tensor::size(int dim) const {
  const int index = dim < 0 ? dim + dims() : dim;
  TPC_EXPECT(index >= 0 && index < dims(), "dim {} of a tensor of shape {}", dim, to_string(shape_));
  return shape_[static_cast<std::size_t>(index)];
}

Tensor Tensor::reshaped(Shape shape) const {
  TPC_EXPECT(element_count(shape) == count_, "{} cannot be seen as {}", to_string(shape_), to_string(shape));
  return {storage_, dtype_, std::move(shape), first_};
}

Tensor Tensor::rows(std::int64_t first, std::int64_t count) const {
  TPC_EXPECT(dims() > 0 && first >= 0 && count >= 0 && first + count <= shape_[0],
             "rows {}..{} of a tensor of shape {}", first, first + count, to_string(shape_));
  Shape shape = shape_;
  shape[0] = count;
  const std::int64_t row = shape_[0] == 0 ? 0 : count_ / shape_[0];
  return {storage_, dtype_, std::move(shape), first_ + first * row};
}

Tensor host_tensor(DType dtype, Shape shape, std::string label) {
  auto storage = std::make_shared<Storage>();
  storage->bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  storage->label = std::move(label);
  if (storage->bytes > 0) {
    storage->data = static_cast<std::byte*>(std::calloc(storage->bytes, 1));
    if (storage->data == nullptr)
      throw EnvironmentError(fmt::format("no memory for {} bytes of '{}'", storage->bytes, storage->label),
                             "the allocation failed", "use a smaller model or fewer --layers");
  }
  storage->release = [](Storage& s) { std::free(s.data); };
  return {std::move(storage), dtype, std::move(shape)};
}

}  // namespace tpc
