// SPDX-License-Identifier: Apache-2.0
// What every backend owes: the same demands on shapes and the same account of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/compute/kernels.hpp"

namespace tpc {
namespace {

class Backends : public testing::TestWithParam<std::string> {
 protected:
  Tensor tensor(const Shape& shape, DType dtype = DType::f32) { return compute->allocate(dtype, shape, "x"); }

  std::unique_ptr<Compute> compute = GetParam() == "host" ? make_host_compute() : make_shape_only_compute();
};
INSTANTIATE_TEST_SUITE_P(, Backends, testing::Values("host", "shape_only"),
                         [](const auto& backend) { return backend.param; });

TEST_P(Backends, CountBytesAlike) {
  const Tensor x = tensor({3, 5}, DType::bf16);
  {
    const Tensor y = tensor({7}, DType::i64);
    EXPECT_EQ(compute->live_bytes(), 30U + 56U);
  }
  EXPECT_EQ(compute->live_bytes(), 30U);
  compute->synchronize();
}

TEST(Host, ForgetsAllButWhatIsKept) {
  const auto compute = make_host_compute();
  const Tensor kept = compute->allocate(DType::f32, {2, 2}, "kept");
  const Tensor other = compute->allocate(DType::f32, {2}, "other");
  compute->fill(kept, 1);
  compute->fill(other, 1);

  compute->forget_all_but({kept.rows(0, 1)});

  EXPECT_EQ(kept.data<float>()[3], 1);
  EXPECT_TRUE(std::isnan(other.data<float>()[1]));
}

TEST_P(Backends, RefuseWhatDoesNotFit) {
  const Tensor x = tensor({2, 3});
  const Tensor other = tensor({3, 2});
  const Tensor narrow = tensor({2, 3}, DType::bf16);
  const Tensor row = tensor({3});
  const Tensor stats = tensor({2});
  const Tensor ids = tensor({2}, DType::i64);
  EXPECT_THROW(compute->gemm(x, x, Transpose::no, x, Transpose::no), ContractError);
  EXPECT_THROW(compute->copy(x, row), ContractError);
  EXPECT_THROW(compute->copy_block(x, {0, 0}, x, {0, 0}, {3, 3}), ContractError);
  EXPECT_THROW(compute->permute(x, x, {1, 0}), ContractError);
  EXPECT_THROW(compute->add(x, x, other), ContractError);
  EXPECT_THROW(compute->scale(x, narrow, 2), ContractError);
  EXPECT_THROW(compute->gelu(x, row, GeluForm::erf), ContractError);
  EXPECT_THROW(compute->gelu_backward(x, x, narrow, GeluForm::erf), ContractError);
  EXPECT_THROW(compute->swiglu(x, x, other), ContractError);
  EXPECT_THROW(compute->swiglu_backward(x, x, x, x, other), ContractError);
  EXPECT_THROW(compute->dropout(x, x, x, 2), ContractError);
  EXPECT_THROW(compute->rotary(x, x, ModelConfig{}, Direction::forward), ContractError);
  EXPECT_THROW(compute->add_rows(x, x, stats), ContractError);
  EXPECT_THROW(compute->sum_rows(stats, x), ContractError);
  EXPECT_THROW(compute->softmax(x, x, 1, true), ContractError);  // 2 rows are no whole group of 3
  EXPECT_THROW(compute->softmax_backward(x, x, other, 1), ContractError);
  EXPECT_THROW(compute->layer_norm(x, stats, stats, x, row, stats, 0), ContractError);
  EXPECT_THROW(compute->layer_norm_backward(x, row, row, x, x, stats, row, row), ContractError);
  EXPECT_THROW(compute->rms_norm(x, row, x, row, 0), ContractError);
  EXPECT_THROW(compute->rms_norm_backward(x, row, other, x, stats, row), ContractError);
  EXPECT_THROW(compute->embedding(x, stats, x, {0, 2, 2}), ContractError);
  EXPECT_THROW(compute->embedding_backward(x, x, ids, {0, 3, 3}), ContractError);
  EXPECT_THROW(compute->cross_entropy_max(row, x, {0, 3, 3}), ContractError);
  EXPECT_THROW(compute->cross_entropy_max(stats, x, {0, 4, 4}), ContractError);
  EXPECT_THROW(compute->cross_entropy_sums(stats, stats, stats, x, stats, stats, {0, 3, 3}), ContractError);
  EXPECT_THROW(compute->cross_entropy_loss(stats, stats, stats, stats, row, ids, {}, 3), ContractError);
  EXPECT_THROW(compute->cross_entropy_backward(other, x, stats, stats, ids, stats, {}, {0, 3, 3}),
               ContractError);
  EXPECT_THROW(compute->loss_weights(row, ids, {}), ContractError);
  EXPECT_THROW(compute->dot(stats, x, x), ContractError);
}

TEST_P(Backends, AcceptWhatFits) {
  const Tensor x = tensor({2, 2, 3}, DType::bf16);
  const Tensor row = tensor({3}, DType::bf16);
  const Tensor stats = tensor({2, 2});
  const Tensor ids = tensor({2, 2}, DType::i64);
  compute->fill(x, 1);
  compute->fill(row, 1);
  compute->fill(stats, 1);
  compute->fill(ids, 2);
  compute->gemm(x, x, Transpose::no, tensor({3, 3}, DType::bf16), Transpose::yes, true);
  compute->layer_norm_backward(x, row, row, x, x, stats, stats, row);
  compute->embedding(x, ids, tensor({4, 3}, DType::bf16), {0, 4, 4});
  compute->cross_entropy_sums(stats, stats, stats, x, stats, ids, {0, 3, 3});
  compute->cross_entropy_loss(stats, stats, stats, stats, stats, ids, {}, 3);
  compute->loss_weights(stats, ids, {});
  compute->dot(tensor({1}), x, x);
}

// Around every call, once, whatever the backend; a call that it does not make is not made.
TEST_P(Backends, TellObserversOfEveryCall) {
  const Tensor x = tensor({2, 3});
  std::vector<std::string> told;
  double bytes = 0;
  Product product;
  compute->observe([&](const KernelCall& kernel, const std::function<void()>& call) {
    told.emplace_back(kernel.kernel);
    bytes += kernel.bytes;
    if (kernel.product != nullptr) product = *kernel.product;
    if (kernel.kernel != "fill") call();
  });
  compute->fill(x, 5);
  compute->scale(x, x, 2);
  const Tensor c = tensor({2, 2});
  compute->gemm(c, x, Transpose::no, x, Transpose::yes);
  compute->copy_block(x, {0, 0}, x, {1, 1}, {1, 2});
  compute->observe({});
  compute->scale(x, x, 2);
  EXPECT_EQ(told, (std::vector<std::string>{"fill", "scale", "allocate", "gemm", "copy_block"}));
  EXPECT_EQ(bytes, 24 + 48 + 16 + (16 + 24 + 24) + 16);
  EXPECT_EQ(product, (Product{.m = 2, .n = 2, .k = 3, .tb = Transpose::yes}));
  if (GetParam() == "host") {
    EXPECT_TRUE(std::isnan(x.data<float>()[3]));
  }
}

// A backend of one kernel.
class OnlyFills final : public Kernels {
 public:
  std::string_view backend() const override { return "toy"; }
  MemorySource memory() const override { return host_memory(); }
  void fill(const Tensor& y, double value) override { std::fill_n(y.data<float>(), y.count(), value); }
};

TEST(Backend, SaysWhichKernelIsMissing) {
  Compute toy(std::make_unique<OnlyFills>());
  const Tensor x = toy.allocate(DType::f32, {2}, "x");
  toy.fill(x, 3);
  EXPECT_EQ(x.data<float>()[1], 3);
  try {
    toy.rms_norm(x.reshaped({1, 2}), x.rows(0, 1), x.reshaped({1, 2}), x, 0);
    FAIL() << "nothing was said";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("rms_norm cannot run on toy"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(toy.add(x, x, x.rows(0, 1)), ContractError);
}

TEST(ShapeOnly, TakesNoMemory) {
  const auto compute = make_shape_only_compute();
  const Tensor logits = compute->allocate(DType::f32, {1 << 20, 1 << 20}, "logits");
  EXPECT_EQ(logits.raw(), nullptr);
  EXPECT_EQ(logits.rows(5, 2).raw(), nullptr);
  EXPECT_EQ(compute->live_bytes(), std::size_t{4} << 40U);
  compute->softmax(logits, logits, 1, true);
  EXPECT_EQ(compute->place(), Place::nowhere);
}

TEST(ShapeOnly, ItsTensorsAreNotForTheHost) {
  const auto compute = make_shape_only_compute();
  const Tensor x = compute->allocate(DType::f32, {2}, "x");
  const auto host = make_host_compute();
  const Tensor here = host->allocate(DType::f32, {2}, "x");
  EXPECT_THROW(host->scale(x, x, 2), ContractError);
  EXPECT_THROW(host->copy(here, x), ContractError);
  EXPECT_THROW(compute->scale(here, x, 2), ContractError);
  compute->copy(x, here);
}

}  // namespace
}  // namespace tpc
