// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/core/dtype.hpp"
#include "reference/core/words.hpp"

namespace tpc {

using Shape = std::vector<std::int64_t>;

std::int64_t element_count(const Shape& shape);  // 1 for the empty shape of a scalar
std::string to_string(const Shape& shape);       // "[2, 3]"

// Where elements are: nowhere in dry runs, which count bytes and store nothing.
enum class Place { host, device, nowhere };
constexpr auto words(Place) { return spelling("the host", "the device", "nowhere"); }

// One allocation. Made by an allocator (compute/allocator.hpp), which learns of its end through `release`.
struct Storage {
  std::byte* data = nullptr;  // an address of the place; null where nothing is stored
  Place place = Place::host;
  std::size_t bytes = 0;
  std::string label;
  std::function<void(Storage&)> release;

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    if (release) release(*this);
  }
};

// A handle to a dense row-major array; copies of a Tensor share their elements. Views are contiguous parts
// only: whatever needs strides copies, so that a collective never meets a strided buffer.
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<Storage> storage, DType dtype, Shape shape, std::int64_t first_element = 0);

  explicit operator bool() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int dims() const { return static_cast<int>(shape_.size()); }
  std::int64_t size(int dim) const;  // negative counts from the end
  std::int64_t count() const { return count_; }
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_of(dtype_); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  Place place() const { return storage_->place; }

  std::byte* raw() const {
    return storage_->data == nullptr ? nullptr
                                     : storage_->data + static_cast<std::size_t>(first_) * size_of(dtype_);
  }
  template <class T>
  T* data() const {
    TPC_EXPECT(dtype_ == dtype_of<T>(), "tensor of {} read as {}", name(dtype_), name(dtype_of<T>()));
    return reinterpret_cast<T*>(raw());
  }

  Tensor reshaped(Shape shape) const;                         // same count
  Tensor rows(std::int64_t first, std::int64_t count) const;  // part of dim 0

 private:
  std::shared_ptr<Storage> storage_;
  DType dtype_ = DType::f64;
  Shape shape_;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
};

// A tensor on the host heap, outside any account: for the harness, transports and tests. Zeroed.
Tensor host_tensor(DType dtype, Shape shape, std::string label = "host");

}  // namespace tpc
