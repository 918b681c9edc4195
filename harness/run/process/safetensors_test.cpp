// SPDX-License-Identifier: Apache-2.0
#include "harness/run/process/safetensors.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "harness/values/machine/private_folder.hpp"

namespace tpc {
namespace {

constexpr std::uint64_t enough = 1 << 20;

class Safetensors : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "t.safetensors"; }

  // A header as it is given, and so many bytes behind it.
  void write(const std::string& header, std::size_t bytes) const {
    const std::uint64_t length = header.size();
    std::ofstream out(file(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(&length), sizeof length) << header << std::string(bytes, '\0');
  }

  std::string complaint() const {
    try {
      read_safetensors(file(), enough);
    } catch (const MalformedFile& error) {
      return error.what();
    }
    return "none";
  }

  PrivateFolder folder_;
};

TEST_F(Safetensors, ComeBackAsTheyWere) {
  const Tensor a = host_tensor(DType::f64, {2, 3});
  const Tensor b = host_tensor(DType::bf16, {3});
  const Tensor none = host_tensor(DType::f32, {0, 4});
  a.data<double>()[5] = -1.5;
  b.data<bf16>()[1] = bf16(2.0F);
  write_safetensors(file(), {{"a", a}, {"b", b}, {"none", none}});
  const NamedTensors got = read_safetensors(file(), enough);
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got.at("a").shape(), Shape({2, 3}));
  EXPECT_EQ(got.at("a").data<double>()[5], -1.5);
  EXPECT_EQ(static_cast<float>(got.at("b").data<bf16>()[1]), 2.0F);
  EXPECT_EQ(got.at("none").shape(), Shape({0, 4}));
}

TEST_F(Safetensors, ScalarsAndMetadataAreRead) {
  write(R"({"__metadata__":{"by":"hand"},"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(read_safetensors(file(), enough).at("s").count(), 1);
}

struct Lie {
  std::string header;
  std::size_t bytes;
  std::string complaint;
};

TEST_F(Safetensors, LiesAreNamed) {
  const std::string good = R"("a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]})";
  const std::vector<Lie> lies = {
      {"[]", 0, "no JSON object"},
      {"{", 0, "no JSON object"},
      {R"({"a":[]})", 0, "lacks dtype, shape or data_offsets"},
      {R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4, "none of F64"},
      {R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", 8,
       "8 bytes at [0, 8], its shape [2] needs 16"},
      {R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[16,0]}})", 16, "-16 bytes"},
      {R"({"a":{"dtype":"F64","shape":[-2],"data_offsets":[0,16]}})", 16, "no number from 0"},
      {R"({"a":{"dtype":"F64","shape":[1.5],"data_offsets":[0,16]}})", 16, "no number from 0"},
      {R"({"a":{"dtype":"F64","shape":[281474976710656,281474976710656],"data_offsets":[0,16]}})", 16,
       "beyond 2^64"},
      {R"({"a":{"dtype":"F64","shape":[18446744073709551615],"data_offsets":[0,16]}})", 16,
       "no number from 0"},
      {"{" + good + R"(,"b":{"dtype":"F64","shape":[2],"data_offsets":[8,24]}})", 24,
       "at byte 8, where 16 is due"},
      {"{" + good + R"(,"b":{"dtype":"F64","shape":[1],"data_offsets":[24,32]}})", 32,
       "at byte 24, where 16 is due"},
      {"{" + good + "}", 8, "speaks of 16 bytes of elements, the file holds 8"},
      {"{" + good + "}", 24, "speaks of 16 bytes of elements, the file holds 24"},
      {"{" + good + "," + good + "}", 32, "speaks of 16 bytes of elements, the file holds 32"},
      {"{" + good + "}", enough, "more than the 1048576 allowed"},
  };
  for (const Lie& lie : lies) {
    write(lie.header, lie.bytes);
    EXPECT_NE(complaint().find(lie.complaint), std::string::npos) << lie.header << "\n" << complaint();
  }
}

TEST_F(Safetensors, LengthsOfTheHeaderAreNotBelieved) {
  for (const std::uint64_t length : {std::uint64_t{9}, std::uint64_t{1} << 40U, ~std::uint64_t{0}}) {
    std::ofstream(file(), std::ios::binary).write(reinterpret_cast<const char*>(&length), sizeof length)
        << "{}";
    EXPECT_NE(complaint().find("the header says it has"), std::string::npos) << complaint();
  }
  std::ofstream(file(), std::ios::binary) << "abc";
  EXPECT_EQ(complaint(), "the file has only 3 bytes");
}

TEST_F(Safetensors, OnlyRegularFilesAreRead) {
  EXPECT_NE(complaint().find("there is no file of answers"), std::string::npos);
  std::filesystem::create_symlink("/dev/zero", file());
  EXPECT_NE(complaint().find("there is no file of answers"), std::string::npos) << complaint();
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  EXPECT_EQ(complaint(), "the file of answers is no regular file");
}

}  // namespace
}  // namespace tpc
