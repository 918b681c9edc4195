// SPDX-License-Identifier: Apache-2.0
// Rows against vectors, softmax, rotary and embedding: values that can be checked by hand.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "reference/compute/compute.hpp"
#include "reference/compute/rotary_angles.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::unwrapped;
using test::Values;
using test::wrapped;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class RowKernels : public testing::TestWithParam<DType> {
 protected:
  Tensor tensor(const Shape& shape, const Values& values) const { return wrapped(GetParam(), shape, values); }
  Tensor unwritten(const Shape& shape) { return compute->allocate(GetParam(), shape, "y"); }
  double u() const { return unit_roundoff(GetParam()); }

  std::unique_ptr<Compute> compute = make_host_compute();
};
INSTANTIATE_TEST_SUITE_P(, RowKernels, testing::ValuesIn(float_dtypes),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST_P(RowKernels, AddAndSumRows) {
  const Tensor x = tensor({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor sum = unwritten({3});

  compute->sum_rows(sum, x);
  EXPECT_EQ(unwrapped(sum), (Values{5, 7, 9}));
  compute->add_rows(x, x, sum);
  EXPECT_EQ(unwrapped(x), (Values{6, 9, 12, 9, 12, 15}));
}

TEST_P(RowKernels, SumOfNoRowsIsZero) {
  const Tensor sum = unwritten({3});
  compute->sum_rows(sum, tensor({0, 3}, {}));
  EXPECT_EQ(unwrapped(sum), (Values{0, 0, 0}));
  compute->add_rows(tensor({0, 3}, {}), tensor({0, 3}, {}), sum);
}

// A sum kept in bf16 would stay at 256.
TEST_P(RowKernels, SumsAreKeptWide) {
  const Tensor sum = unwritten({1});
  compute->sum_rows(sum, tensor({1000, 1}, Values(1000, 1)));
  EXPECT_EQ(unwrapped(sum), Values{1000});
}

TEST_P(RowKernels, DotIsAStatistic) {
  const Tensor scalar = host_tensor(statistics_dtype(GetParam()), {1});
  compute->dot(scalar, tensor({19}, Values(19, 3)), tensor({19}, Values(19, 5)));
  EXPECT_EQ(unwrapped(scalar), Values{285});
  compute->dot(scalar, tensor({0}, {}), tensor({0}, {}));
  EXPECT_EQ(unwrapped(scalar), Values{0});
}

TEST_P(RowKernels, SoftmaxOfTiesAndGapsIsExact) {
  const Tensor x = tensor({2, 4}, {2048, 0, 2048, 0, -1024, -1024, -1024, -1024});
  compute->softmax(x, x, 1, false);
  EXPECT_EQ(unwrapped(x), (Values{0.5, 0, 0.5, 0, 0.25, 0.25, 0.25, 0.25}));

  const Tensor dp = tensor({2, 4}, {8, 3, 4, 3, 1, 2, 3, 2});
  compute->softmax_backward(dp, dp, x, 0.5);
  EXPECT_EQ(unwrapped(dp), (Values{0.5, 0, -0.5, 0, -0.125, 0, 0.125, 0}));
}

TEST_P(RowKernels, SoftmaxScalesItsScores) {
  const Tensor p = unwritten({1, 2});
  compute->softmax(p, tensor({1, 2}, {0, 4}), 0.25, false);
  const double expected = 1 / (1 + std::exp(1.0));
  EXPECT_NEAR(unwrapped(p)[0], expected, u());
  EXPECT_NEAR(unwrapped(p)[1], 1 - expected, u());
}

// Two groups of three positions; whatever lies in the future is not even read.
TEST_P(RowKernels, CausalSoftmaxSeesThePastAlone) {
  const Values scores = {7, nan, infinity, 7, 7, nan, 0, 0, -infinity, 5, nan, nan, 0, 0, nan, 0, 4096, 0};
  const Tensor p = unwritten({1, 6, 3});
  compute->softmax(p, tensor({1, 6, 3}, scores), 1, true);
  EXPECT_EQ(unwrapped(p), (Values{1, 0, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 1, 0}));
  EXPECT_THROW(compute->softmax(tensor({4, 3}, Values(12)), tensor({4, 3}, Values(12)), 1, true),
               ContractError);
}

TEST_P(RowKernels, SoftmaxOfNothingAndOfOne) {
  compute->softmax(tensor({0, 3}, {}), tensor({0, 3}, {}), 1, true);
  compute->softmax(tensor({2, 0, 0}, {}), tensor({2, 0, 0}, {}), 1, true);
  const Tensor one = tensor({1, 1}, {17});
  compute->softmax(one, one, 1, true);
  EXPECT_EQ(unwrapped(one), Values{1});
}

ModelConfig rotary_config(std::int64_t head_dim, RotaryForm form) {
  ModelConfig config;
  config.head_dim = head_dim;
  config.rotary = form;
  return config;
}

// With theta = 10000 and D = 4 position s turns the first pair by s and the second by s/100.
TEST_P(RowKernels, RotaryTurnsPairs) {
  const Tensor x = tensor({3, 1, 1, 4}, {1, 2, 3, 4, 1, 0, 0, 2, 1, 2, 3, 4});
  const Tensor y = unwritten(x.shape());

  compute->rotary(y, x, rotary_config(4, RotaryForm::halves), Direction::forward);
  const Values halves = unwrapped(y);
  EXPECT_EQ(Values(halves.begin(), halves.begin() + 4), (Values{1, 2, 3, 4}));
  EXPECT_NEAR(halves[8], std::cos(2.0) - 3 * std::sin(2.0), 4 * u());
  EXPECT_NEAR(halves[10], 3 * std::cos(2.0) + std::sin(2.0), 4 * u());
  EXPECT_NEAR(halves[9], 2 * std::cos(0.02) - 4 * std::sin(0.02), 4 * u());
  EXPECT_NEAR(halves[11], 4 * std::cos(0.02) + 2 * std::sin(0.02), 4 * u());

  compute->rotary(y, x, rotary_config(4, RotaryForm::interleaved), Direction::forward);
  const Values interleaved = unwrapped(y);
  EXPECT_NEAR(interleaved[8], std::cos(2.0) - 2 * std::sin(2.0), 4 * u());
  EXPECT_NEAR(interleaved[9], 2 * std::cos(2.0) + std::sin(2.0), 4 * u());
  EXPECT_NEAR(interleaved[10], 3 * std::cos(0.02) - 4 * std::sin(0.02), 4 * u());
}

TEST_P(RowKernels, RotaryBackwardUndoesForward) {
  for (const RotaryForm form : {RotaryForm::halves, RotaryForm::interleaved}) {
    const Tensor x = test::random_tensor(GetParam(), {5, 2, 3, 6}, "x");
    const Values before = unwrapped(x);
    compute->rotary(x, x, rotary_config(6, form), Direction::forward);
    EXPECT_GT(test::relative_error(unwrapped(x), before), 0.1);
    compute->rotary(x, x, rotary_config(6, form), Direction::backward);
    EXPECT_LE(test::relative_error(unwrapped(x), before), 4 * u());
  }
}

TEST_P(RowKernels, RotaryRefusesOddHeads) {
  const Tensor x = tensor({1, 1, 1, 3}, {1, 2, 3});
  EXPECT_THROW(compute->rotary(x, x, rotary_config(3, RotaryForm::halves), Direction::forward),
               ContractError);
  EXPECT_THROW(compute->rotary(x, x, rotary_config(4, RotaryForm::halves), Direction::forward),
               ContractError);
  const Tensor none = tensor({0, 2, 1, 4}, {});
  compute->rotary(none, none, rotary_config(4, RotaryForm::halves), Direction::forward);
}

TEST_P(RowKernels, EmbeddingOfForeignIdsIsZero) {
  const Tensor weight = tensor({3, 2}, {1, 2, 3, 4, 5, 6});  // ids 4 and 5, and a row of padding
  const Tensor ids = wrapped(DType::i64, {2, 3}, {5, 3, 4, 6, 5, -1});
  const Tensor y = unwritten({2, 3, 2});
  const VocabSlice slice{4, 3, 6};

  compute->embedding(y, ids, weight, slice);

  EXPECT_EQ(unwrapped(y), (Values{3, 4, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0}));
}

TEST_P(RowKernels, EmbeddingGradientAddsRepeatedIds) {
  const Tensor ids = wrapped(DType::i64, {5}, {5, 3, 5, 6, 5});
  const Tensor dy = tensor({5, 2}, {1, 2, 9, 9, 256, 20, 9, 9, 1, 200});
  const Tensor dweight = unwritten({3, 2});

  compute->embedding_backward(dweight, dy, ids, {4, 3, 6});

  EXPECT_EQ(unwrapped(dweight), (Values{0, 0, 258, 222, 0, 0}));  // 258: bf16 kept wide until the end
}

TEST_P(RowKernels, EmbeddingWithNothingToDo) {
  const Tensor none = tensor({0, 2}, {});
  const Tensor no_ids = wrapped(DType::i64, {0}, {});
  compute->embedding(none, no_ids, tensor({3, 2}, Values(6)), {0, 3, 3});
  const Tensor y = unwritten({1, 2});
  const Tensor id = wrapped(DType::i64, {1}, {1});
  compute->embedding(y, id, none, {8, 0, 6});  // a shard that holds nothing
  EXPECT_EQ(unwrapped(y), (Values{0, 0}));
  compute->embedding_backward(none, y, id, {8, 0, 6});
  EXPECT_THROW(compute->embedding(y, id, none, {8, 3, 6}), ContractError);
}

// As in the config of Llama 3.2: factor 32, 1 and 4 turns, 8192 positions, theta 500000, D 64.
TEST(RotaryFrequencies, Llama3StretchesTheLowOnes) {
  ModelConfig config = rotary_config(64, RotaryForm::halves);
  config.rotary_theta = 500000;
  const std::vector<double> plain = rotary_frequencies(config);
  config.rotary_scaling = RotaryScaling{32, 1, 4, 8192};
  const std::vector<double> stretched = rotary_frequencies(config);

  ASSERT_EQ(plain.size(), 32U);
  EXPECT_EQ(plain[0], 1);
  EXPECT_NEAR(plain[16], 1 / std::sqrt(500000.0), 1e-18);
  int between = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const double wavelength = 2 * std::numbers::pi / plain[i];
    if (wavelength < 8192.0 / 4) {
      EXPECT_EQ(stretched[i], plain[i]);
    } else if (wavelength > 8192.0) {
      EXPECT_EQ(stretched[i], plain[i] / 32);
    } else {
      const double smooth = (8192 / wavelength - 1) / (4 - 1);
      EXPECT_NEAR(stretched[i] / ((1 - smooth) * plain[i] / 32 + smooth * plain[i]), 1, 1e-14);
      ++between;
    }
  }
  EXPECT_EQ(between, 3);
}

}  // namespace
}  // namespace tpc
