// SPDX-License-Identifier: Apache-2.0
// Skipped by name where there is no device.
#include "reference/comm/nccl/nccl.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "reference/comm/local/local.hpp"

namespace tpc {
namespace {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Tensor on_device(const std::vector<double>& values) {
  auto storage = std::make_shared<Storage>();
  storage->bytes = values.size() * sizeof(double);
  void* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, storage->bytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(data, values.data(), storage->bytes, cudaMemcpyHostToDevice), cudaSuccess);
  storage->data = static_cast<std::byte*>(data);
  storage->release = [](Storage& s) { cudaFree(s.data); };
  return {storage, DType::f64, {static_cast<std::int64_t>(values.size())}};
}

std::vector<double> on_host(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.count()));
  EXPECT_EQ(cudaMemcpy(values.data(), tensor.raw(), tensor.bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
  return values;
}

TEST(NcclWithoutDevice, IsAnEnvironmentError) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_THROW(make_nccl_communicator(make_single_communicator(), 0), EnvironmentError);
}

TEST(Nccl, OneRankIsTheIdentity) {
  if (device_count() == 0) GTEST_SKIP() << "there is no CUDA device";
  const auto self = make_nccl_communicator(make_single_communicator(), 0);
  const Tensor out = on_device({0, 0, 0});
  self->split(0, 0, "tp")->all_reduce(out, on_device({1, 2, 3}), ReduceOp::sum);
  EXPECT_EQ(on_host(out), (std::vector<double>{1, 2, 3}));
}

TEST(Nccl, SumsOverOneDevicePerRank) {
  const int ranks = std::min(device_count(), 8);
  if (ranks < 2) GTEST_SKIP() << "there are fewer than 2 CUDA devices";
  on_local_ranks(ranks, [](const CommunicatorPtr& host) {
    const auto world = make_nccl_communicator(host, host->rank());
    const Tensor x = on_device({1, static_cast<double>(host->rank())});
    world->all_reduce(x, x, ReduceOp::sum);
    EXPECT_EQ(on_host(x), (std::vector<double>{1.0 * host->size(), host->size() * (host->size() - 1) / 2.0}));
  });
}

}  // namespace
}  // namespace tpc
