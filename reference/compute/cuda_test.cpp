// SPDX-License-Identifier: Apache-2.0
// The device against the host. Skipped by name where there is no device.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "reference/compute/compute.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::relative_error;
using test::unwrapped;

bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

TEST(CudaWithoutDevice, IsAnEnvironmentError) {
  if (has_device()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(make_cuda_compute(0), EnvironmentError);
}

class Cuda : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no CUDA device";
    cuda = make_cuda_compute(0);
  }
  Tensor sent(const Tensor& x) {
    const Tensor y = cuda->allocate(x.dtype(), x.shape(), "sent");
    EXPECT_EQ(cudaMemcpy(y.raw(), x.raw(), x.bytes(), cudaMemcpyHostToDevice), cudaSuccess);
    return y;
  }
  test::Values fetched(const Tensor& x) {
    cuda->synchronize();
    const Tensor y = host_tensor(x.dtype(), x.shape());
    EXPECT_EQ(cudaMemcpy(y.raw(), x.raw(), x.bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return unwrapped(y);
  }
  double bound() const { return 16 * unit_roundoff(GetParam()); }

  std::unique_ptr<Compute> host = make_host_compute();
  std::unique_ptr<Compute> cuda;
};
INSTANTIATE_TEST_SUITE_P(, Cuda, testing::ValuesIn(float_dtypes),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST_P(Cuda, ElementwiseFamilyAgrees) {
  const Tensor x = test::random_tensor(GetParam(), {7, 331}, "x");
  const Tensor z = test::random_tensor(GetParam(), {7, 331}, "z");
  const Tensor y = host->allocate(GetParam(), x.shape(), "y");
  const Tensor dx = sent(x);
  const Tensor dz = sent(z);
  const Tensor dy = cuda->allocate(GetParam(), x.shape(), "y");
  const std::vector<std::function<void(Compute&, const Tensor&, const Tensor&, const Tensor&)>> calls = {
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor& b) { c.add(to, a, b); },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor&) { c.scale(to, a, 0.3); },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor&) { c.gelu(to, a, GeluForm::erf); },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor&) { c.gelu(to, a, GeluForm::tanh); },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor& b) {
        c.gelu_backward(to, a, b, GeluForm::erf);
      },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor& b) {
        c.gelu_backward(to, a, b, GeluForm::tanh);
      },
      [](Compute& c, const Tensor& to, const Tensor& a, const Tensor& b) { c.swiglu(to, a, b); }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i](*host, y, x, z);
    calls[i](*cuda, dy, dx, dz);
    EXPECT_LE(relative_error(fetched(dy), unwrapped(y)), bound()) << "call " << i;
  }
}

TEST_P(Cuda, SumRowsIsTheSameBits) {
  const Tensor x = test::random_tensor(GetParam(), {61, 300}, "x");
  const Tensor sum = host->allocate(GetParam(), {300}, "sum");
  const Tensor dsum = cuda->allocate(GetParam(), {300}, "sum");
  host->sum_rows(sum, x);
  cuda->sum_rows(dsum, sent(x));
  EXPECT_EQ(fetched(dsum), unwrapped(sum));
}

TEST_P(Cuda, GemmAgrees) {
  for (const Transpose ta : {Transpose::no, Transpose::yes})
    for (const Transpose tb : {Transpose::no, Transpose::yes})
      for (const bool shared_b : {false, true}) {
        const Shape b_matrix = tb == Transpose::yes ? Shape{11, 7} : Shape{7, 11};
        const Tensor a =
            test::random_tensor(GetParam(), ta == Transpose::yes ? Shape{3, 7, 5} : Shape{3, 5, 7}, "a");
        const Tensor b =
            test::random_tensor(GetParam(), shared_b ? b_matrix : Shape{3, b_matrix[0], b_matrix[1]}, "b");
        const Tensor c = test::random_tensor(GetParam(), {3, 5, 11}, "c");
        const Tensor dc = sent(c);
        host->gemm(c, a, ta, b, tb, true);
        cuda->gemm(dc, sent(a), ta, sent(b), tb, true);
        EXPECT_LE(relative_error(fetched(dc), unwrapped(c)), bound());
      }
}

TEST_P(Cuda, WhatIsNotBuiltSaysSo) {
  const Tensor x = cuda->allocate(GetParam(), {2, 3}, "x");
  EXPECT_THROW(cuda->softmax(x, x, 1, false), EnvironmentError);
}

}  // namespace
}  // namespace tpc
