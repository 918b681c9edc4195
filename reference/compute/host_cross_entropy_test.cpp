// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "reference/compute/compute.hpp"
#include "reference/compute/test_support.hpp"

namespace tpc {
namespace {

using test::float_dtypes;
using test::unwrapped;
using test::Values;
using test::wrapped;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Terms {
  Tensor max, sum_exp, target_logit, sum_logit;
};

class CrossEntropyKernels : public testing::TestWithParam<DType> {
 protected:
  Tensor tensor(const Shape& shape, const Values& values) const { return wrapped(GetParam(), shape, values); }
  Tensor ids(const Values& values) const {
    return wrapped(DType::i64, {static_cast<std::int64_t>(values.size())}, values);
  }
  Tensor stats(std::int64_t rows) {
    return compute->allocate(statistics_dtype(GetParam()), {rows}, "statistics");
  }
  Terms terms_of(const Tensor& logits, const Tensor& targets, const VocabSlice& slice) {
    const std::int64_t rows = targets.count();
    Terms terms{stats(rows), stats(rows), stats(rows), stats(rows)};
    compute->cross_entropy_max(terms.max, logits, slice);
    compute->cross_entropy_sums(terms.sum_exp, terms.target_logit, terms.sum_logit, logits, terms.max,
                                targets, slice);
    return terms;
  }
  Values losses(const Terms& terms, const Tensor& targets, const LossDefinition& definition,
                std::int64_t vocab) {
    const Tensor loss = stats(targets.count());
    compute->cross_entropy_loss(loss, terms.max, terms.sum_exp, terms.target_logit, terms.sum_logit, targets,
                                definition, vocab);
    return unwrapped(loss);
  }
  // With a seed of 1 per row.
  Values gradients(const Tensor& logits, const Terms& terms, const Tensor& targets,
                   const LossDefinition& definition, const VocabSlice& slice) {
    const Tensor dlogits = compute->allocate(GetParam(), logits.shape(), "dlogits");
    const Tensor seeds = stats(targets.count());
    compute->fill(seeds, 1);
    compute->cross_entropy_backward(dlogits, logits, terms.max, terms.sum_exp, targets, seeds, definition,
                                    slice);
    return unwrapped(dlogits);
  }

  std::unique_ptr<Compute> compute = make_host_compute();
};
INSTANTIATE_TEST_SUITE_P(, CrossEntropyKernels, testing::ValuesIn(float_dtypes),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST_P(CrossEntropyKernels, OneMaximumPerRowIsExact) {
  const Tensor logits = tensor({2, 4}, {0, 2048, 1024, -1024, -3072, -1024, -2048, -4096});
  const Tensor targets = ids({1, 2});
  const VocabSlice all{0, 4, 4};
  const Terms terms = terms_of(logits, targets, all);

  EXPECT_EQ(unwrapped(terms.max), (Values{2048, -1024}));
  EXPECT_EQ(unwrapped(terms.sum_exp), (Values{1, 1}));
  EXPECT_EQ(unwrapped(terms.target_logit), (Values{2048, -2048}));
  EXPECT_EQ(unwrapped(terms.sum_logit), (Values{2048, -10240}));
  EXPECT_EQ(losses(terms, targets, {}, 4), (Values{0, 1024}));
  EXPECT_EQ(gradients(logits, terms, targets, {}, all), (Values{0, 0, 0, 0, 0, 1, -1, 0}));
}

TEST_P(CrossEntropyKernels, TiesShareTheGradient) {
  const Tensor logits = tensor({1, 4}, {1024, 0, 1024, 0});
  const Tensor targets = ids({1});
  const VocabSlice all{0, 4, 4};
  EXPECT_EQ(gradients(logits, terms_of(logits, targets, all), targets, {}, all), (Values{0.5, -1, 0.5, 0}));
}

// The last slice of a vocabulary of 6, padded to 8: ids 4 and 5, then two columns that hold garbage.
TEST_P(CrossEntropyKernels, PaddingTakesPartInNothing) {
  const Tensor logits = tensor({3, 4}, {1, 3, nan, infinity, 1, 3, nan, infinity, 1, 3, nan, infinity});
  const Tensor targets = ids({5, 2, 6});
  const VocabSlice slice{4, 4, 6};
  const Terms terms = terms_of(logits, targets, slice);

  EXPECT_EQ(unwrapped(terms.max), (Values{3, 3, 3}));
  EXPECT_EQ(unwrapped(terms.target_logit), (Values{3, 0, 0}));
  EXPECT_EQ(unwrapped(terms.sum_logit), (Values{4, 4, 4}));
  EXPECT_NEAR(unwrapped(terms.sum_exp)[0], 1 + std::exp(-2.0), 1e-6);
  const Values dlogits = gradients(logits, terms, targets, {}, slice);
  const double p = 1 / (1 + std::exp(2.0));
  EXPECT_NEAR(dlogits[0], p, 2 * unit_roundoff(GetParam()));
  EXPECT_NEAR(dlogits[1], -p, 2 * unit_roundoff(GetParam()));
  EXPECT_NEAR(dlogits[5], 1 - p, 2 * unit_roundoff(GetParam()));
  for (const std::size_t padding : {2U, 3U, 6U, 7U, 10U, 11U}) EXPECT_EQ(dlogits[padding], 0);
}

TEST_P(CrossEntropyKernels, ASliceOfPaddingAlone) {
  const Tensor logits = tensor({1, 2}, {nan, 7});
  const Tensor targets = ids({1});
  const VocabSlice slice{8, 2, 6};
  const Terms terms = terms_of(logits, targets, slice);
  EXPECT_EQ(unwrapped(terms.max), Values{-infinity});
  EXPECT_EQ(unwrapped(terms.sum_exp), Values{0});
  EXPECT_EQ(unwrapped(terms.sum_logit), Values{0});
  EXPECT_EQ(gradients(logits, terms, targets, {}, slice), (Values{0, 0}));
}

TEST_P(CrossEntropyKernels, IgnoredRowsAreZero) {
  const Tensor logits = tensor({3, 2}, {nan, 1, 1024, 0, 5, infinity});
  const VocabSlice all{0, 2, 2};
  LossDefinition definition;
  definition.ignore_index = 0;  // inside the vocabulary, as padding tokens are
  const Tensor targets = ids({0, 1, 0});
  const Terms terms = terms_of(logits, targets, all);
  EXPECT_EQ(losses(terms, targets, definition, 2), (Values{0, 1024, 0}));
  EXPECT_EQ(gradients(logits, terms, targets, definition, all), (Values{0, 0, 1, -1, 0, 0}));
}

TEST_P(CrossEntropyKernels, ForeignTargetsAreContractErrors) {
  const Tensor logits = tensor({1, 2}, {0, 0});
  for (const double target : {2.0, -1.0}) {
    const Terms terms = terms_of(logits, ids({target}), {0, 2, 2});
    EXPECT_THROW(losses(terms, ids({target}), {}, 2), ContractError);
  }
}

// Without smoothing the sum of all logits is not touched, so that a logit of -infinity is only impossible.
TEST_P(CrossEntropyKernels, ImpossibleClassesCostNothing) {
  const Tensor logits = tensor({1, 3}, {1024, -infinity, 0});
  const Tensor targets = ids({2});
  const VocabSlice all{0, 3, 3};
  const Terms terms = terms_of(logits, targets, all);
  EXPECT_EQ(losses(terms, targets, {}, 3), Values{1024});
  EXPECT_EQ(gradients(logits, terms, targets, {}, all), (Values{1, 0, -1}));
}

TEST_P(CrossEntropyKernels, SmoothingAndZLossByHand) {
  const Tensor logits = tensor({1, 4}, {1024, 0, -1024, -512});
  const Tensor targets = ids({1});
  const VocabSlice all{0, 4, 4};
  const Terms terms = terms_of(logits, targets, all);
  LossDefinition definition;
  definition.label_smoothing = 0.5;  // shares 5/8 and 1/8
  EXPECT_EQ(losses(terms, targets, definition, 4), Values{1024 + 512 / 8.0});
  EXPECT_EQ(gradients(logits, terms, targets, definition, all), (Values{0.875, -0.625, -0.125, -0.125}));
  definition.label_smoothing = 0.375;
  definition.smoothing_over = SmoothingOver::other_classes;  // shares 5/8 and 1/8 again
  EXPECT_EQ(losses(terms, targets, definition, 4), Values{1024 + 512 / 8.0});
  definition = {};
  definition.z_loss = 0x1p-10;
  EXPECT_EQ(losses(terms, targets, definition, 4), Values{1024 + 1024});
  EXPECT_EQ(gradients(logits, terms, targets, definition, all), (Values{3, -1, 0, 0}));
}

TEST_P(CrossEntropyKernels, TheMeanCountsValidOrAllTokens) {
  const Tensor weights = stats(4);
  LossDefinition definition;
  compute->loss_weights(weights, ids({3, -100, 0, -100}), definition);
  EXPECT_EQ(unwrapped(weights), (Values{0.5, 0, 0.5, 0}));
  definition.mean_over = LossMean::all_tokens;
  compute->loss_weights(weights, ids({3, -100, 0, -100}), definition);
  EXPECT_EQ(unwrapped(weights), (Values{0.25, 0, 0.25, 0}));
  for (const LossMean mean : {LossMean::valid_tokens, LossMean::all_tokens}) {
    definition.mean_over = mean;
    compute->loss_weights(weights, ids({-100, -100, -100, -100}), definition);
    EXPECT_EQ(unwrapped(weights), (Values{0, 0, 0, 0}));
  }
  compute->loss_weights(stats(0), ids({}), definition);
}

}  // namespace
}  // namespace tpc
