// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/npy.hpp"

#include <fmt/format.h>

#include "harness/run/records/record_file.hpp"

namespace tpc {

namespace {

// The data must begin at a multiple of this.
constexpr std::size_t alignment = 64;
constexpr std::string_view magic{"\x93NUMPY\x01\x00", 8};

std::string_view type_code(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
    case DType::bf16:
      return "<f4";
    case DType::i64:
      return "<i8";
    case DType::u8:
      break;
  }
  return "|u1";
}

// A tuple of Python: "()", "(3,)", "(2, 3,)".
std::string tuple_of(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += fmt::format("{}{},", text.size() > 1 ? " " : "", size);
  return text + ")";
}

std::string header(const Tensor& tensor) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                 type_code(tensor.dtype()), tuple_of(tensor.shape()));
  const std::size_t before = magic.size() + 2;
  const std::size_t unpadded = before + text.size() + 1;
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  return text + '\n';
}

}  // namespace

std::string npy_bytes(const Tensor& tensor) {
  const std::string text = header(tensor);
  std::string bytes(magic);
  bytes += static_cast<char>(text.size() & 0xffU);
  bytes += static_cast<char>(text.size() >> 8U);
  bytes += text;
  if (tensor.dtype() != DType::bf16)
    return bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  const auto* values = tensor.data<bf16>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const float wide = values[i];
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_final_file(path, npy_bytes(tensor));
}

}  // namespace tpc
