// SPDX-License-Identifier: Apache-2.0
// What every backend owes: the same demands on shapes and the same account of bytes.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/compute/compute.hpp"

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

TEST(ShapeOnly, TakesNoMemory) {
  const auto compute = make_shape_only_compute();
  const Tensor logits = compute->allocate(DType::f32, {1 << 20, 1 << 20}, "logits");
  EXPECT_EQ(logits.raw(), nullptr);
  EXPECT_EQ(logits.rows(5, 2).raw(), nullptr);
  EXPECT_EQ(compute->live_bytes(), std::size_t{4} << 40U);
  compute->softmax(logits, logits, 1, true);
  EXPECT_EQ(compute->device(), "shape-only");
}

TEST(ShapeOnly, ItsTensorsAreNotForTheHost) {
  const auto compute = make_shape_only_compute();
  const Tensor x = compute->allocate(DType::f32, {2}, "x");
  EXPECT_THROW(make_host_compute()->scale(x, x, 2), ContractError);
}

}  // namespace
}  // namespace tpc
