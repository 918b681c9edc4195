// SPDX-License-Identifier: Apache-2.0
#include "harness/run/records/npy.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tpc {
namespace {

struct Parsed {
  std::string header;
  std::string data;
};

Parsed parse(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[8])) +
                      256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U);
  EXPECT_EQ(bytes[9 + length], '\n');
  return {bytes.substr(10, length), bytes.substr(10 + length)};
}

TEST(Npy, WritesHeaderAndData) {
  const Tensor tensor = host_tensor(DType::f64, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.data<double>()[i] = i;

  const Parsed parsed = parse(npy_bytes(tensor));

  EXPECT_EQ(parsed.header.find("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3,), }"), 0U);
  ASSERT_EQ(parsed.data.size(), 48U);
  EXPECT_EQ(std::memcmp(parsed.data.data(), tensor.raw(), 48), 0);
}

TEST(Npy, WritesScalarsAndEmptyTensorsOfEveryType) {
  EXPECT_NE(
      parse(npy_bytes(host_tensor(DType::i64, {}))).header.find("'<i8', 'fortran_order': False, 'shape': ()"),
      std::string::npos);
  const Parsed empty = parse(npy_bytes(host_tensor(DType::f32, {0, 3})));
  EXPECT_NE(empty.header.find("'<f4', 'fortran_order': False, 'shape': (0, 3,)"), std::string::npos);
  EXPECT_TRUE(empty.data.empty());
  EXPECT_NE(parse(npy_bytes(host_tensor(DType::u8, {1}))).header.find("'|u1'"), std::string::npos);
}

TEST(Npy, WidensBf16) {
  const Tensor tensor = host_tensor(DType::bf16, {1});
  *tensor.data<bf16>() = bf16(1.5F);

  const Parsed parsed = parse(npy_bytes(tensor));

  EXPECT_NE(parsed.header.find("'<f4'"), std::string::npos);
  float value = 0;
  ASSERT_EQ(parsed.data.size(), sizeof value);
  std::memcpy(&value, parsed.data.data(), sizeof value);
  EXPECT_EQ(value, 1.5F);
}

}  // namespace
}  // namespace tpc
