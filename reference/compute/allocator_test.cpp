// SPDX-License-Identifier: Apache-2.0
#include "reference/compute/allocator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::unwrapped;

TEST(Allocator, CountsWhatIsAlive) {
  Allocator allocator;
  EXPECT_EQ(allocator.live_bytes(), 0U);
  const Tensor a = allocator.allocate(DType::f64, {3, 5}, "a");
  {
    const Tensor b = allocator.allocate(DType::bf16, {7}, "b");
    const Tensor part = a.rows(0, 1);
    EXPECT_EQ(allocator.live_bytes(), 120U + 14U);
    ASSERT_EQ(allocator.live().size(), 2U);
    EXPECT_EQ(allocator.live()[1].label, "b");
    EXPECT_EQ(allocator.live()[1].bytes, 14U);
  }
  EXPECT_EQ(allocator.live_bytes(), 120U);
}

TEST(Allocator, ViewsKeepTheirStorageAlive) {
  Allocator allocator;
  Tensor row;
  {
    const Tensor a = allocator.allocate(DType::f32, {4, 2}, "a");
    row = a.rows(1, 1);
  }
  EXPECT_EQ(allocator.live_bytes(), 32U);
  row = Tensor();
  EXPECT_EQ(allocator.live_bytes(), 0U);
}

TEST(Allocator, MayEndBeforeItsTensors) {
  Tensor x;
  {
    Allocator allocator;
    x = allocator.allocate(DType::f32, {4}, "x");
  }
  x.data<float>()[3] = 1;
  EXPECT_EQ(x.data<float>()[3], 1);
}

TEST(Allocator, NewMemoryShows) {
  Allocator allocator;
  for (const DType dtype : float_dtypes)
    for (const double value : unwrapped(allocator.allocate(dtype, {3, 3}, "x")))
      EXPECT_TRUE(std::isnan(value)) << name(dtype);
  EXPECT_GT(allocator.allocate(DType::i64, {1}, "ids").data<std::int64_t>()[0], std::int64_t{1} << 60U);
  EXPECT_EQ(allocator.allocate(DType::u8, {1}, "bytes").data<std::uint8_t>()[0], 255);
}

TEST(Allocator, PoisonsAllButWhatIsKept) {
  Allocator allocator;
  const Tensor kept = allocator.allocate(DType::f32, {2}, "kept");
  const Tensor other = allocator.allocate(DType::f32, {2}, "other");
  const Tensor ids = allocator.allocate(DType::i64, {2}, "ids");
  const Tensor none = allocator.allocate(DType::f32, {0}, "none");
  for (int i = 0; i < 2; ++i) kept.data<float>()[i] = other.data<float>()[i] = 1;
  ids.data<std::int64_t>()[0] = 1;

  allocator.fill_except({kept.storage().get()});

  EXPECT_EQ(unwrapped(kept), (test::Values{1, 1}));
  EXPECT_TRUE(std::isnan(other.data<float>()[0]) && std::isnan(other.data<float>()[1]));
  EXPECT_GT(ids.data<std::int64_t>()[0], 1);
}

TEST(Allocator, NoMemoryStillCounts) {
  Allocator allocator(no_memory());
  const Tensor huge = allocator.allocate(DType::f64, {1 << 20, 1 << 20}, "huge");
  EXPECT_EQ(huge.raw(), nullptr);
  EXPECT_EQ(allocator.live_bytes(), std::size_t{8} << 40U);
  allocator.fill_except({});
}

TEST(Allocator, RunningOutNamesTheTensor) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends a process that asks for too much";
#endif
  Allocator allocator;
  try {
    allocator.allocate(DType::f64, {std::int64_t{1} << 50U}, "logits");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("'logits'"), std::string::npos);
  }
}

}  // namespace
}  // namespace tpc
